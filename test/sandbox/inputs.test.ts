import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { startSandbox } from '../../sandbox/server';
import type { Sandbox, SandboxOptions } from '../../sandbox/server';
import { http } from '../../tools/http';
import { until } from '../e2e/support/until';

/** The files behind the URLs of requests. */

const bytes = Buffer.from('\x89PNG a picture', 'latin1');
const authorizations: Array<string | undefined> = [];
let files: Server;
let origin: string;
let sandbox: Sandbox;

beforeAll(async () => {
	files = createServer((request, response) => {
		authorizations.push(request.headers.authorization);
		const path = request.url ?? '';
		if (path === '/hangs') return;
		if (path === '/moved') response.writeHead(302, { location: '/a.png' }).end();
		else if (path === '/empty') response.end();
		else if (path === '/large') response.end(Buffer.alloc(2000));
		else if (path === '/a.png') response.setHeader('content-type', 'image/png').end(bytes);
		else response.writeHead(404).end();
	});
	files.listen(0, '127.0.0.1');
	await once(files, 'listening');
	origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
});
afterAll(() => {
	files.closeAllConnections();
	files.close();
});
afterEach(async () => await sandbox.close());

const limits = { timeoutMs: 300, maxBytes: 1000 };

async function create(fetchInputs: SandboxOptions['fetchInputs'], body: object) {
	sandbox = await startSandbox({ generationSeconds: 0, fetchInputs });
	const headers = { authorization: `Bearer ${sandbox.keys.main}` };
	const request = { model: 'aurora-motion-1', prompt: 'A boat', ...body };
	await http.post(`${sandbox.url}/v1/videos/generations`, request, { headers });
	await until('it has ended', async () =>
		/completed|failed/.test(sandbox.books.generations[0].state),
	);
	const [entry] = sandbox.books.generations;
	const path = `${sandbox.url}/v1/generations/${entry.id}`;
	const { data: answer } = await http.get<{ error?: { message: string } }>(path, { headers });
	return { entry, error: answer.error };
}

it('are not fetched unless the sandbox is told to', async () => {
	const { entry } = await create(undefined, { image_url: `${origin}/none.png` });
	expect([entry.state, entry.fetched]).toEqual(['completed', []]);
});

it('are fetched without a login, and the books say what came', async () => {
	const image_url = `${origin}/a.png`;
	const { entry } = await create({}, { image_url, input_images: [image_url] });
	const fetched = {
		status: 200,
		contentType: 'image/png',
		bytes: bytes.length,
		sha256: createHash('sha256').update(bytes).digest('hex'),
		trouble: null,
	};
	expect([entry.state, entry.fetched]).toEqual([
		'completed',
		[
			{ name: 'image_url', ...fetched },
			{ name: 'input_images[0]', ...fetched },
		],
	]);
	expect(authorizations.filter(Boolean)).toEqual([]);
});

it.each([
	['is missing', '/none.png?token=secret', 'the server answered 404'],
	['is elsewhere: a redirect is not followed', '/moved', 'the server answered 302'],
	['is empty', '/empty', 'it is empty'],
	['is larger than the limit', '/large', 'it is too large'],
	['does not come in time', '/hangs', 'it took too long'],
])('fail their generation, which is refunded, if one %s', async (_, path, trouble) => {
	const { entry, error } = await create(limits, { image_url: origin + path });
	expect(entry).toMatchObject({ state: 'failed', charged: 40, refunded: 40 });
	expect(error).toMatchObject({ code: 'input_not_fetched' });
	expect(error?.message).toContain(`The file in image_url could not be fetched: ${trouble}`);
	expect(JSON.stringify(error)).not.toContain('secret');
});
