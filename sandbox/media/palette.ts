import type { Random } from '../random';

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
	const hue = Math.floor(random() * 360);
	const second = (hue + 30 + Math.floor(random() * 60)) % 360;
	const third = (hue + 150 + Math.floor(random() * 60)) % 360;
	return {
		from: `hsl(${hue}, 55%, 20%)`,
		to: `hsl(${second}, 60%, 38%)`,
		shape: (opacity) => `hsla(${third}, 75%, 62%, ${opacity})`,
		accent: `hsl(${third}, 85%, 68%)`,
	};
}
