import OpenAI from 'openai';
import type { Video } from 'openai/resources/videos';
import { openOpenAiAdapter } from '../../bench/compare/openai-adapter';
import type { OpenAiAdapter } from '../../bench/compare/openai-adapter';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';

let sandbox: Sandbox;
let adapter: OpenAiAdapter;
let client: OpenAI;

beforeAll(async () => {
	sandbox = await startSandbox({ generationSeconds: 0.01 });
	adapter = await openOpenAiAdapter(sandbox.service);
	client = new OpenAI({ baseURL: adapter.url, apiKey: sandbox.keys.main, maxRetries: 0 });
});
afterAll(async () => {
	await adapter.close();
	await sandbox.close();
});
beforeEach(() => sandbox.reset());

/** As n8n's node asks: a form, with a model that only the sandbox knows. */
async function create(prompt: string): Promise<Video> {
	// The client's type only knows the durations of OpenAI's models.
	const seconds = '1' as '4';
	return await client.videos.create({ model: 'lumen-loop', prompt, seconds, size: '1280x720' });
}

async function ended(id: string): Promise<Video> {
	for (;;) {
		const video = await client.videos.retrieve(id);
		if (video.status === 'completed' || video.status === 'failed') return video;
	}
}

describe("OpenAI's own client at the adapter", () => {
	it('makes a video that the service has in its books, at its price', async () => {
		const video = await create('A wave');
		expect(video).toMatchObject({ object: 'video', model: 'lumen-loop', error: null });
		const [booked] = sandbox.books.generations;
		expect(booked).toMatchObject({ id: video.id, key: 'main', prompt: 'A wave', charged: 4 });
		expect(booked.request).toMatchObject({ duration: 1, resolution: '720p' });
	});

	it('downloads it when it is completed, and every request counts once', async () => {
		const { id } = await create('A wave');
		expect(await ended(id)).toMatchObject({ status: 'completed', progress: 100, seconds: '1' });
		sandbox.requests.clear();
		const response = await client.videos.downloadContent(id);
		expect(response.headers.get('content-type')).toBe('video/mp4');
		expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1000);
		expect(sandbox.requests.all.map(({ on, status }) => ({ on, status }))).toEqual([
			{ on: 'download', status: 200 },
		]);
	});

	it('says why a video has failed', async () => {
		const { id } = await create('A wave [fail: Out of paint]');
		const error = { code: 'generation_failed', message: 'Out of paint' };
		expect(await ended(id)).toMatchObject({ status: 'failed', error });
		const bare = await create('A wave [fail-text: Out of ink]');
		expect((await ended(bare.id)).error?.message).toBe('Out of ink');
	});

	it('hands the refusals of the service on', async () => {
		sandbox.service.occupy('main', 10);
		const busy = { status: 429, code: 'CONCURRENCY_LIMIT_REACHED' };
		await expect(create('A wave')).rejects.toMatchObject(busy);
		await expect(client.videos.retrieve('nothing')).rejects.toMatchObject({ status: 404 });
		await expect(client.videos.downloadContent('nothing')).rejects.toMatchObject({ status: 404 });
		const stranger = new OpenAI({ baseURL: adapter.url, apiKey: 'wrong', maxRetries: 0 });
		await expect(stranger.videos.retrieve('nothing')).rejects.toMatchObject({ status: 401 });
	});
});
