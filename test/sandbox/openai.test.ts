import OpenAI from 'openai';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { start, VirtualClock } from './virtual';

let sandbox: Sandbox;
let client: OpenAI;
const clock = new VirtualClock();

beforeAll(async () => {
	sandbox = await startSandbox({ clock, generationSeconds: 1 });
	client = new OpenAI({ baseURL: `${sandbox.url}/v1`, apiKey: sandbox.keys.main });
});
afterAll(() => sandbox.close());

describe("OpenAI's own client, with only the address and key changed (spec 1.2)", () => {
	it('lists the models', async () => {
		const ids: string[] = [];
		for await (const model of client.models.list()) ids.push(model.id);
		expect(ids).toHaveLength(16);
		expect(ids).toContain('aurora-image-1');
	});

	it('creates an image, whose URL serves the picture a little later', async () => {
		const made = await client.images.generate({
			model: 'aurora-image-1',
			prompt: 'A lighthouse',
			size: '1024x1024',
			n: 1,
		});
		const url = made.data?.[0].url ?? '';
		expect((await http.get(url)).status).toBe(404);
		clock.pass(1);
		expect((await http.get(url)).headers['content-type']).toBe('image/png');
		expect(made.created).toBe(Math.floor(start / 1000));
	});

	it('throws its own errors for errors of the service', async () => {
		const asked = client.images.generate({ model: 'nothing', prompt: 'A lighthouse' });
		await expect(asked).rejects.toMatchObject({
			status: 404,
			code: 'model_not_found',
			type: 'not_found',
			param: 'model',
		});
	});
});
