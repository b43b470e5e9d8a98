/** The pages for people: what was made, the books beside it, and the keys. */
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { getBytes, http } from '../../tools/http';
import { createOverHttp, finishedOverHttp, send } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => (sandbox = await startSandbox()));
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

async function shown(path = '/'): Promise<string> {
	const page = await http.get<string>(`${sandbox.url}${path}`);
	expect(page.headers['content-type']).toContain('text/html');
	return page.data;
}

/** A small video that is finished. */
async function finishedVideo(): Promise<string> {
	const prompt = 'A paper boat [seconds: 60000]';
	const small = { resolution: '480p', duration: 0.1, fps: 12 };
	const body = { model: 'aurora-motion-1', prompt, ...small };
	const { data } = await send<{ id: string }>(sandbox, '/v1/videos/generations', body);
	const { id } = data;
	sandbox.service.finish(id);
	return id;
}

describe('the status page', () => {
	it('shows prompts as text', async () => {
		await createOverHttp(sandbox, { prompt: '<script>alert(1)</script>' });
		const html = await shown();
		expect(html).toContain('&lt;script&gt;');
		expect(html).not.toContain('<script>');
	});

	it('shows finished pictures, playable videos, and running or failed generations', async () => {
		const picture = await finishedOverHttp(sandbox, { prompt: 'A harbor' });
		const video = await finishedVideo();
		const failed = await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		sandbox.service.finish(failed.id, 'No');
		await createOverHttp(sandbox, { prompt: '[seconds: 60000]' });
		const html = await shown();
		expect(html).toContain(`<img loading="lazy" src="/_sandbox/outputs/${picture.id}/thumbnail"`);
		expect(html).toMatch(new RegExp(`<video [^>]*src="/_sandbox/outputs/${video}/video"`));
		expect(html).toContain('failed, refunded');
		expect(html).toMatch(/pending<br>\d+ s left/);
		expect(html).toContain('<dt>Generations</dt><dd>4</dd>');
		expect(html).toContain('1 credit, refunded');
	});

	it('lists the fields of a request that have no effect', async () => {
		const fields = { aspect_ratio: '9:16', webhook_url: 'https://a.example' };
		await createOverHttp(sandbox, { ...fields, parameters: { negative_prompt: 'x', seed: 1 } });
		const all = 'aspect_ratio, webhook_url, parameters.negative_prompt';
		expect(await shown()).toContain(`Ignored: ${all}<`);
		expect(sandbox.books.generations[0].ignored).toEqual(all.split(', '));
	});

	it('sends no requests to the storage, so that download faults remain for the client', async () => {
		const { id } = await finishedOverHttp(sandbox);
		const video = await finishedVideo();
		sandbox.faults.order({ on: 'download', action: { kind: 'expire' } });
		for (const path of [`${id}/thumbnail`, `${video}/thumbnail`, `${video}/video`]) {
			expect((await getBytes(`${sandbox.url}/_sandbox/outputs/${path}`)).status).toBe(200);
		}
		expect(sandbox.requests.all.filter(({ origin }) => origin === 'storage')).toEqual([]);
		expect(sandbox.faults.pending).toHaveLength(1);
	});
});

describe.each(['/', '/connected-apps', '/sign-in'])('the page %s', (path) => {
	it('supports phones and dark mode, does not reload, and loads nothing from other origins', async () => {
		const page = await http.get<string>(`${sandbox.url}${path}`);
		const html = page.data;
		expect(html).toContain('<meta name="viewport" content="width=device-width');
		expect(html).toContain('prefers-color-scheme: dark');
		expect(page.headers['content-security-policy']).toContain("default-src 'none'");
	});
});
