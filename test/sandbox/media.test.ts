import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';
import { loadImage } from '@napi-rs/canvas';
import type { ImageOutput, Output, VideoOutput } from '../../sandbox/generations/generations';
import { readFile } from '../../sandbox/media/file';
import { MediaLibrary } from '../../sandbox/media/library';
import { readMediaInfo } from '../../tools/media-info';
import type { MediaInfo } from '../../tools/media-info';
import { VirtualSandbox } from './virtual';

const run = promisify(execFile);
const mebibyte = 1024 * 1024;
let folder: string;
let library: MediaLibrary;

beforeAll(async () => {
	folder = await mkdtemp(path.join(tmpdir(), 'sandbox-media-test-'));
	library = new MediaLibrary();
});
afterAll(async () => {
	await library.close();
	await rm(folder, { recursive: true, force: true });
});

const image: ImageOutput = {
	type: 'image',
	width: 320,
	height: 200,
	seed: 7,
	prompt: 'A lighthouse above a calm sea',
	modelName: 'Aurora Image 1',
	bytes: null,
};
const video: VideoOutput = {
	...image,
	type: 'video',
	width: 854,
	height: 480,
	duration: 1,
	fps: 12,
};

async function bytesOf(output: Output, from = library): Promise<Buffer> {
	const file = await from.open(output);
	const bytes = Buffer.concat([...readFile(file, 0, file.size)]);
	expect(bytes.length).toBe(file.size);
	return bytes;
}

async function infoOf(bytes: Buffer): Promise<MediaInfo> {
	const file = path.join(folder, 'info.mp4');
	await writeFile(file, bytes);
	return await readMediaInfo(file);
}

/** Decodes every frame, and returns the errors that ffmpeg prints to stderr. */
async function complaintsAbout(bytes: Buffer, name: string): Promise<string> {
	const file = path.join(folder, name);
	await writeFile(file, bytes);
	return (await run(ffmpeg, ['-v', 'warning', '-i', file, '-f', 'null', '-'])).stderr;
}

describe('pictures', () => {
	it.each([
		[1536, 1024],
		[333, 777],
	])('are exactly %d x %d', async (width, height) => {
		const picture = await loadImage(await bytesOf({ ...image, width, height }));
		expect([picture.width, picture.height]).toEqual([width, height]);
	});

	it('have the same bytes for the same request and seed, and different bytes for another', async () => {
		const [first, again] = [await bytesOf(image), await bytesOf(image, new MediaLibrary())];
		expect(first.equals(again)).toBe(true);
		expect(first.equals(await bytesOf({ ...image, seed: 8 }))).toBe(false);
		expect(first.equals(await bytesOf({ ...image, prompt: 'A boat' }))).toBe(false);
	});

	it.each([
		['16:9', 1368, 768],
		['1:1', 1024, 1024],
		['9:16', 768, 1368],
	])('with an aspect ratio of %s are %d x %d, regardless of the size', (ratio, width, height) => {
		const sandbox = new VirtualSandbox();
		const { url } = sandbox.created({ size: '64x64', parameters: { aspect_ratio: ratio } }).data[0];
		sandbox.clock.pass(10);
		expect(sandbox.fetch(url).output).toMatchObject({ width, height });
	});

	it.each([100_000, 3 * mebibyte + 17])('are padded to %d bytes and stay valid', async (bytes) => {
		const padded = await bytesOf({ ...image, bytes });
		expect(padded.length).toBe(bytes);
		expect(await complaintsAbout(padded, 'padded.png')).toBe('');
		expect((await loadImage(padded)).width).toBe(320);
	});
});

describe('videos', () => {
	it.each([
		[1280, 720, 2.5, 30],
		[854, 480, 10, 12],
	] as const)(
		'have the properties that were requested: %d x %d, %d s at %d fps',
		async (width, height, duration, fps) => {
			const { seconds, ...info } = await infoOf(
				await bytesOf({ ...video, width, height, duration, fps }),
			);
			expect(info).toEqual({
				codec: 'h264',
				pixelFormat: 'yuv420p',
				width,
				height,
				framesPerSecond: fps,
				frames: Math.round(duration * fps),
			});
			expect(seconds).toBeCloseTo(duration, 1);
		},
	);

	it('can be played from the start: the index comes before the frames', async () => {
		const bytes = await bytesOf(video);
		expect(bytes.indexOf('moov')).toBeGreaterThan(0);
		expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
	});

	it('are padded to a size and stay valid', async () => {
		const bytes = await bytesOf({ ...video, bytes: 2 * mebibyte + 3 });
		expect(bytes.length).toBe(2 * mebibyte + 3);
		expect(await infoOf(bytes)).toMatchObject({ codec: 'h264', frames: 12 });
		expect(await complaintsAbout(bytes, 'padded.mp4')).toBe('');
	});
});
