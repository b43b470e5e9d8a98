import type { ImageOutput } from '../generations/generations';
import { drawScene } from './scene';

/** Draws the PNG of an image output with exactly its width and height. */
export async function drawPicture(output: ImageOutput): Promise<Buffer> {
	return await (await drawScene(output)).canvas.encode('png');
}
