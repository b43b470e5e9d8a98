import { createCanvas, loadImage } from '@napi-rs/canvas';
import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';
import type { Output } from '../generations/generations';
import { wellFormed } from '../basics/json';
import { hashOf, seededRandom } from '../basics/random';
import type { Random } from '../basics/random';
import { fontOf } from './fonts';
import { drawPalette } from './palette';
import type { Palette } from './palette';
import { drawCover } from './start-picture';

interface Scene {
	readonly canvas: Canvas;
	readonly palette: Palette;
}

function drawBackground(pen: SKRSContext2D, output: Output, palette: Palette): void {
	const { width, height } = output;
	const gradient = pen.createLinearGradient(0, 0, 0, height);
	gradient.addColorStop(0, palette.from);
	gradient.addColorStop(1, palette.to);
	pen.fillStyle = gradient;
	pen.fillRect(0, 0, width, height);
}

/** Draws a disc low in the sky and a few ranges of hills in front of it. */
function drawLandscape(pen: SKRSContext2D, output: Output, palette: Palette, random: Random): void {
	const { width, height } = output;
	pen.fillStyle = palette.shape(0.85);
	pen.beginPath();
	const radius = Math.min(width, height) * (0.1 + random() * 0.08);
	pen.arc(width * (0.2 + random() * 0.6), height * 0.52, radius, 0, 2 * Math.PI);
	pen.fill();
	for (let range = 0; range < 4; range++) {
		const base = height * (0.56 + range * 0.11);
		const swell = height * (0.09 - range * 0.012);
		const phase = random() * 2 * Math.PI;
		const waves = 1.2 + random() * 2;
		pen.fillStyle = `rgba(8, 10, 28, ${0.28 + range * 0.06})`;
		pen.beginPath();
		pen.moveTo(0, height);
		for (let step = 0; step <= 120; step++) {
			const part = step / 120;
			const ripple = Math.sin(part * waves * 2 * Math.PI + phase);
			const detail = Math.sin(part * waves * 5 * Math.PI + phase * 2) * 0.3;
			pen.lineTo(part * width, base - (ripple + detail) * swell);
		}
		pen.lineTo(width, height);
		pen.fill();
	}
}

function cutToFit(pen: SKRSContext2D, text: string, maxWidth: number): string {
	if (pen.measureText(text).width <= maxWidth) return text;
	let kept = text;
	while (kept.length > 1 && pen.measureText(`${kept}…`).width > maxWidth) kept = kept.slice(0, -1);
	// Without the first half of a character whose second half was cut off.
	return `${kept.replace(/\p{Surrogate}$/u, '')}…`;
}

/** Wraps a text to lines of at most `maxWidth` pixels. Cuts it after `maxLines`. */
function wrap(pen: SKRSContext2D, text: string, maxWidth: number, maxLines: number): string[] {
	const lines: string[] = [];
	let line = '';
	// The canvas rejects some control characters, and none of them can be seen.
	const visible = wellFormed(text.slice(0, 600)).replace(/[\p{Cc}\s]+/gu, ' ');
	for (const word of visible.split(' ')) {
		const longer = line === '' ? word : `${line} ${word}`;
		if (line !== '' && pen.measureText(longer).width > maxWidth) {
			lines.push(line);
			line = word;
		} else {
			line = longer;
		}
	}
	lines.push(line);
	if (lines.length > maxLines) {
		lines.length = maxLines;
		lines[maxLines - 1] += '…';
	}
	return lines.map((each) => cutToFit(pen, each, maxWidth));
}

function captionOf(output: Output): string {
	const { width, height, modelName, seed } = output;
	const size = `${width} × ${height}`;
	const time = output.type === 'video' ? ` · ${output.duration} s · ${output.fps} fps` : '';
	return `${modelName}  ·  seed ${seed}  ·  ${size}${time}`;
}

function drawText(pen: SKRSContext2D, output: Output, palette: Palette): void {
	const { width, height } = output;
	const margin = Math.round(Math.min(width, height) * 0.07);
	const room = width - 2 * margin;
	const large = Math.max(7, Math.round(Math.min(width * 0.052, height * 0.075)));
	const small = Math.max(6, Math.round(large * 0.5));
	pen.textBaseline = 'alphabetic';
	pen.font = fontOf(large, 600);
	const maxLines = Math.max(1, Math.floor((height * 0.42) / (large * 1.3)));
	pen.fillStyle = '#ffffff';
	wrap(pen, output.prompt, room, maxLines).forEach((line, index) => {
		pen.fillText(line, margin, margin + large + index * large * 1.3);
	});
	pen.fillStyle = palette.accent;
	const rule = Math.max(2, Math.round(large * 0.08));
	pen.fillRect(margin, height - margin - small * 2, large * 2, rule);
	pen.font = fontOf(small, 400);
	pen.fillStyle = 'rgba(255, 255, 255, 0.92)';
	pen.fillText(cutToFit(pen, captionOf(output), room), margin, height - margin);
}

/** Draws the model, the seed and the length on a dark strip at the bottom, for a video that shows a picture. */
export function drawCaption(output: Output): Canvas {
	const { width, height } = output;
	const canvas = createCanvas(width, height);
	const pen = canvas.getContext('2d');
	const size = Math.max(6, Math.round(Math.min(width, height) * 0.026));
	pen.fillStyle = 'rgba(0, 0, 0, 0.75)';
	pen.fillRect(0, height - size * 2.4, width, size * 2.4);
	pen.font = fontOf(size, 400);
	pen.fillStyle = '#ffffff';
	pen.fillText(cutToFit(pen, captionOf(output), width - 2 * size), size, height - size * 0.85);
	return canvas;
}

/**
 * Draws the scene of an output: hills under a sky, with the prompt at the top and the model and seed at the bottom. The
 * seed determines the colors. That of a video that starts from a picture is the picture, without a text. The same output
 * always has the same pixels.
 */
export async function drawScene(output: Output): Promise<Scene> {
	const random = seededRandom(hashOf(`${output.seed} ${output.modelName}`));
	const palette = drawPalette(random);
	const canvas = createCanvas(output.width, output.height);
	const pen = canvas.getContext('2d');
	const start = output.type === 'video' ? output.start : undefined;
	if (start !== undefined) {
		drawCover(
			pen,
			typeof start === 'string' ? await loadImage(start) : (await drawScene(start)).canvas,
		);
		return { canvas, palette };
	}
	drawBackground(pen, output, palette);
	drawLandscape(pen, output, palette, random);
	drawText(pen, output, palette);
	return { canvas, palette };
}
