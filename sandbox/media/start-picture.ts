import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Canvas, Image, SKRSContext2D } from '@napi-rs/canvas';
import type { VideoOutput } from '../generations/generations';
import { withProportions } from '../generations/start';

/** Draws a picture so that it covers the whole canvas. What does not fit is cut off on both sides. */
export function drawCover(pen: SKRSContext2D, picture: Canvas | Image): void {
	const { width, height } = pen.canvas;
	const scale = Math.max(width / picture.width, height / picture.height);
	const [drawnWidth, drawnHeight] = [picture.width * scale, picture.height * scale];
	const [x, y] = [(width - drawnWidth) / 2, (height - drawnHeight) / 2];
	pen.drawImage(picture, x, y, drawnWidth, drawnHeight);
}

/** Returns a video that starts from a fetched file, or the same video if the file is not a picture. */
export async function startFrom(output: VideoOutput, file: Buffer): Promise<VideoOutput> {
	const picture = await loadImage(file).catch(() => null);
	if (!picture?.width || !picture.height) return output;
	const framed = withProportions(output, picture);
	const canvas = createCanvas(framed.width, framed.height);
	drawCover(canvas.getContext('2d'), picture);
	return { ...framed, start: await canvas.toDataURLAsync('image/jpeg', 90) };
}
