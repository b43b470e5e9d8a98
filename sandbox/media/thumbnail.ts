import { createCanvas } from '@napi-rs/canvas';
import type { Output } from '../generations/generations';
import { drawScene } from './scene';

/** Draws a JPEG of an output, at most `side` pixels wide and high: the picture, or the scene of a video. */
export async function drawThumbnail(output: Output, side: number): Promise<Buffer> {
	const scale = Math.min(1, side / Math.max(output.width, output.height));
	const width = Math.max(1, Math.round(output.width * scale));
	const height = Math.max(1, Math.round(output.height * scale));
	const small = createCanvas(width, height);
	small.getContext('2d').drawImage((await drawScene(output)).canvas, 0, 0, width, height);
	return await small.encode('jpeg', 85);
}
