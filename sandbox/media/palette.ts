import type { Random } from '../basics/random';

/** Hues of a picture; each colour is a CSS one. */
export interface Palette {
	/** Of the background, from corner to corner. */
	readonly from: string;
	readonly to: string;
	/** Of a shape at an opacity from 0 to 1. */
	shape(opacity: number): string;
	readonly accent: string;
}

/** Colours that go together, dark enough behind white letters. */
export function drawPalette(random: Random): Palette {
	// Evening skies, from teal over blue and violet to rose, and a light warmer than they are.
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
