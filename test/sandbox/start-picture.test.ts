import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { getBytes } from '../../tools/http';
import { until } from '../e2e/support/until';
import { finishedOverHttp, lookOverHttp, send } from './over-http';

let sandbox: Sandbox;

beforeAll(async () => {
	sandbox = await startSandbox({ generationSeconds: 0 });
});
afterAll(() => sandbox.close());

/** Returns the first frame of a video that starts from a picture, 8 pixels wide and high, and its real size. */
async function firstFrame(image_url: string) {
	const body = { model: 'aurora-motion-1', prompt: 'It turns', image_url, resolution: '480p' };
	const { data } = await send<{ id: string }>(sandbox, '/v1/videos/generations', {
		...body,
		duration: 1,
	});
	await until('it has ended', async () => sandbox.books.find(data.id)?.state === 'completed');
	const [{ url }] = (await lookOverHttp(sandbox, data.id)).data;
	const { data: video } = await getBytes(url);
	const run = promisify(execFile)(
		ffmpeg,
		['-v', 'error', '-i', '-', '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', '-'],
		{ encoding: 'buffer', maxBuffer: 2 ** 25 },
	);
	run.child.stdin?.end(video);
	return await seen((await run).stdout);
}

/** Returns the size of a picture, and how it looks from far away. */
async function seen(file: Buffer) {
	const image = await loadImage(file);
	const canvas = createCanvas(8, 8);
	canvas.getContext('2d').drawImage(image, 0, 0, 8, 8);
	return { width: image.width, height: image.height, pixels: [...canvas.data()] };
}

/** Returns the mean difference of two pictures, from 0 to 255. The last quarter is left out: a caption covers it. */
function difference(one: readonly number[], other: readonly number[]): number {
	const length = one.length * 0.75;
	const sum = one.slice(0, length).reduce((all, value, at) => all + Math.abs(value - other[at]), 0);
	return sum / length;
}

describe('a video that starts from a picture', () => {
	it.each([
		['576x1024', 480, 854],
		['1024x576', 854, 480],
		['512x512', 480, 480],
	])('shows it in its orientation: %s', async (size, width, height) => {
		const { url } = await finishedOverHttp(sandbox, { size, prompt: 'A red mug' });
		const picture = await seen((await getBytes(url)).data);
		const frame = await firstFrame(url);
		expect([frame.width, frame.height]).toEqual([width, height]);
		expect(difference(frame.pixels, picture.pixels)).toBeLessThan(12);
	});
});
