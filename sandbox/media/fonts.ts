import path from 'node:path';
import { GlobalFonts } from '@napi-rs/canvas';

const subsets = ['latin', 'latin-ext', 'cyrillic', 'greek'];
const weights = [400, 600];

/** Returns the font family of a subset and weight. For every letter, the families are tried in order. */
function familyName(subset: string, weight: number): string {
	return `Sandbox ${subset} ${weight}`;
}

let registered = false;

function registerFonts(): void {
	if (registered) return;
	registered = true;
	const folder = path.dirname(require.resolve('@fontsource/inter/package.json'));
	for (const subset of subsets) {
		for (const weight of weights) {
			const file = path.join(folder, 'files', `inter-${subset}-${weight}-normal.woff2`);
			GlobalFonts.registerFromPath(file, familyName(subset, weight));
		}
	}
}

/** Returns a canvas font of the given size. The fonts come from npm, so no system font is needed. */
export function fontOf(pixels: number, weight: 400 | 600): string {
	registerFonts();
	const families = subsets.map((subset) => `"${familyName(subset, weight)}"`).join(', ');
	return `${pixels}px ${families}, sans-serif`;
}
