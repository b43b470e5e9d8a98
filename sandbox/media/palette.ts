import type { Random } from '../basics/random';

/** The colors of a picture. Each is a CSS color. */
export interface Palette {
	/** Start color of the background gradient, which goes from corner to corner. */
	readonly from: string;
	readonly to: string;
	/** Returns the color of a shape with an opacity from 0 to 1. */
	shape(opacity: number): string;
	readonly accent: string;
}

/** Generates matching colors that are dark enough for white text. */
export function drawPalette(random: Random): Palette {
	// Evening skies: from teal through blue and violet to rose, with a warmer light.
	const hue = 175 + Math.floor(random() * 150);
	const second = hue + 20 + Math.floor(random() * 45);
	const third = Math.floor(random() * 50);
	return {
		from: `hsl(${hue}, 58%, 22%)`,
		to: `hsl(${second % 360}, 62%, 46%)`,
		shape: (opacity) => `hsla(${third}, 92%, 68%, ${opacity})`,
		accent: `hsl(${third}, 92%, 72%)`,
	};
}
