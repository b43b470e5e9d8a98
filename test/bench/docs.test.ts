import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pages, withSections } from '../../bench/docs';
import { documented } from '../../bench/sections';
import { tableOf } from '../../bench/table';

const pagesByName = pages().map((page): [string, string] => [basename(page), page]);

it.each(pagesByName)('%s says what was measured: else npm run bench -- docs', (_, page) => {
	const text = readFileSync(page, 'utf8');
	expect(withSections(text, documented())).toBe(text);
});

it('aligns a table as Prettier does', () => {
	expect(tableOf([{ '': 'a long name', n: 1 }])).toBe(
		'|             | n   |\n| ----------- | --- |\n| a long name | 1   |',
	);
});

it('writes what stands between two markers, and only that', () => {
	const text =
		'a\n\n<!-- bench:x -->\n\nold\n\n<!-- /bench -->\n\nb\n\n<!-- bench:y --><!-- /bench -->\n';
	const sections = new Map([
		['x', 'new'],
		['y', '$1'],
	]);
	expect(withSections(text, sections)).toBe(
		'a\n\n<!-- bench:x -->\n\nnew\n\n<!-- /bench -->\n\nb\n\n<!-- bench:y -->\n\n$1\n\n<!-- /bench -->\n',
	);
	expect(() => withSections(text, new Map())).toThrow('x');
});
