import type { ImageOutput } from '../generations/generations';
import { drawScene } from './scene';

/** The PNG of an image output, of exactly its width and height. */
export async function drawPicture(output: ImageOutput): Promise<Buffer> {
	return await drawScene(output).canvas.encode('png');
}
