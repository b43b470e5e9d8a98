import { listOf, tableOf, withSections } from '../../tools/tables';

it('aligns a table as Prettier does', () => {
	expect(tableOf([{ '': 'a long name', n: 1 }])).toBe(
		'|             | n   |\n| ----------- | --- |\n| a long name | 1   |',
	);
});

it('wraps a list, so that it can be read in the source', () => {
	const list = listOf([`\`code\`: ${'word '.repeat(40)}end`, 'short']);
	const lines = list.split('\n');
	expect(lines.map((line) => line.slice(0, 4))).toEqual(['- `c', '  wo', '- sh']);
	expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(124);
	expect(withSections(`a <!-- k:x -->\n\n${list}\n\nb`, 'k', new Map([['x', '- new']]))).toBe(
		'a <!-- k:x -->\n\n- new\n\nb',
	);
});

it('writes the tables behind its markers, and nothing else', () => {
	const text =
		'a <!-- kind:x -->\n\n| old |\n| --- |\n\n_`npm run old`_\n\nb <!-- kind:y -->\n\n<!-- other:x -->\n';
	const sections = new Map([
		['x', '| new |'],
		['y', '| $1 |\n\n_`npm run new`_'],
	]);
	expect(withSections(text, 'kind', sections)).toBe(
		'a <!-- kind:x -->\n\n| new |\n\nb <!-- kind:y -->\n\n| $1 |\n\n_`npm run new`_\n\n<!-- other:x -->\n',
	);
	expect(withSections(withSections(text, 'kind', sections), 'kind', sections)).toBe(
		withSections(text, 'kind', sections),
	);
	expect(() => withSections(text, 'kind', new Map())).toThrow('x');
});
