import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { circumstancesOf, sideBySide, type Comparison } from './compare/comparison';
import { sectionsOf } from './docs';
import { parts } from './parts';
import { readResults } from './results';
import { tableOf } from './table';

/** Returns everything that the benchmark writes into the documentation, from its stored results. */
export function documented(): Map<string, string> {
	const file = join(__dirname, 'compare.json');
	const comparison = JSON.parse(readFileSync(file, 'utf8')) as Comparison;
	const source = `_\`npm run bench -- compare\`, ${circumstancesOf(comparison)}._`;
	const sections = sectionsOf(parts, readResults());
	return sections.set('compare', `${tableOf(sideBySide(comparison))}\n\n${source}`);
}
