import { spawn } from 'node:child_process';
import { access, chmod, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCanvas } from '@napi-rs/canvas';
import { path as ffmpeg } from '@ffmpeg-installer/ffmpeg';
import type { VideoOutput } from '../generations/generations';
import type { Palette } from './palette';
import { drawCaption, drawScene } from './scene';

/** Returns the side of the moving light in pixels. It is even, because the color planes have half the size. */
function lightSide(output: VideoOutput): number {
	return Math.round(output.height / 12) * 2;
}

/** Draws the only moving part: a soft light with a bright core. */
async function drawLight(output: VideoOutput, palette: Palette): Promise<Buffer> {
	const side = lightSide(output);
	const canvas = createCanvas(side, side);
	const pen = canvas.getContext('2d');
	const glow = pen.createRadialGradient(
		side / 2,
		side / 2,
		side / 10,
		side / 2,
		side / 2,
		side / 2,
	);
	glow.addColorStop(0, '#ffffff');
	glow.addColorStop(0.25, palette.shape(0.9));
	glow.addColorStop(1, palette.shape(0));
	pen.fillStyle = glow;
	pen.fillRect(0, 0, side, side);
	return await canvas.encode('png');
}

/** A picture is drawn that much larger than the video, which moves across it. */
const pictureScale = 1.04;

/** Returns the size of the scene in pixels. */
function sceneSize({ width, height, start }: VideoOutput): { width: number; height: number } {
	const scale = start === undefined ? 1 : pictureScale;
	return { width: Math.round(width * scale), height: Math.round(height * scale) };
}

/**
 * Returns the encoder's filter, which draws each frame: the scene with the light moved a little further, or a part of the
 * picture that it starts from, under the caption.
 */
function filterOf(output: VideoOutput): string {
	const still = `loop=-1:1:0,setpts=N/${output.fps}/TB`;
	if (output.start !== undefined) {
		const { width, height, duration } = output;
		const part = `crop=${width}:${height}:'(iw-ow)*(0.5+0.5*t/${duration})':'(ih-oh)*(0.5-0.5*t/${duration})'`;
		return (
			`[0]${still},${part},format=yuv420p[scene];[1]format=yuva420p,${still}[caption];` +
			'[scene][caption]overlay=0:0,format=yuv420p'
		);
	}
	const side = lightSide(output);
	const x = `(W-${side})*(0.5+0.42*sin(t*1.9))`;
	const y = `H*0.5+(H*0.2)*sin(t*2.7)-${side / 2}`;
	return (
		`[0]format=yuv420p,${still}[scene];[1]format=yuva420p,${still}[light];` +
		`[scene][light]overlay=x='${x}':y='${y}':eval=frame,format=yuv420p`
	);
}

function argumentsOf(output: VideoOutput, folder: string): string[] {
	const { width, height } = sceneSize(output);
	const frames = Math.max(1, Math.round(output.duration * output.fps));
	return [
		['-v', 'error', '-y', '-nostdin'],
		['-f', 'rawvideo', '-pix_fmt', 'rgba', '-s', `${width}x${height}`],
		['-i', path.join(folder, 'scene.rgba'), '-i', path.join(folder, 'layer.png')],
		['-filter_complex', filterOf(output)],
		['-r', String(output.fps), '-frames:v', String(frames)],
		['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '22', '-threads', '1'],
		['-movflags', '+faststart', '-fflags', '+bitexact', '-flags:v', '+bitexact'],
		['-map_metadata', '-1', path.join(folder, 'video.mp4')],
	].flat();
}

/** Makes the encoder executable. Its install script does this, but may not have run. */
async function allowEncoder(): Promise<void> {
	await access(ffmpeg, constants.X_OK).catch(() => chmod(ffmpeg, 0o755));
}

/** Runs the encoder. If it fails, rejects with its output. */
async function runEncoder(args: string[], signal: AbortSignal): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		const encoder = spawn(ffmpeg, args, { stdio: ['ignore', 'ignore', 'pipe'], signal });
		let said = '';
		encoder.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
		encoder.once('error', reject);
		encoder.once('close', (code) => {
			if (code === 0) resolve();
			else reject(new Error(`The video encoder ended with ${code}: ${said.trim()}`));
		});
	});
}

/**
 * Encodes the MP4 of a video output: H.264, yuv420p, playable while it is still downloading. The encoder is a separate
 * process, so that the event loop is not blocked. Rejects if the encoder fails or `signal` stops it.
 */
export async function encodeVideo(output: VideoOutput, signal: AbortSignal): Promise<Buffer> {
	const folder = await mkdtemp(path.join(tmpdir(), 'sandbox-video-'));
	try {
		const { canvas, palette } = await drawScene({ ...output, ...sceneSize(output) });
		const layer =
			output.start === undefined
				? await drawLight(output, palette)
				: await drawCaption(output).encode('png');
		// Raw pixels: compressing them only for the encoder to decompress takes a tenth of the total time.
		await writeFile(path.join(folder, 'scene.rgba'), canvas.data());
		await writeFile(path.join(folder, 'layer.png'), layer);
		await allowEncoder();
		await runEncoder(argumentsOf(output, folder), signal);
		return await readFile(path.join(folder, 'video.mp4'));
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}
