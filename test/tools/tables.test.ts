import { tableOf, withSections } from '../../tools/tables';

it('aligns a table as Prettier does', () => {
	expect(tableOf([{ '': 'a long name', n: 1 }])).toBe(
		'|             | n   |\n| ----------- | --- |\n| a long name | 1   |',
	);
});

it('writes what stands between two markers, and only that', () => {
	const text =
		'a\n\n<!-- kind:x -->\n\nold\n\n<!-- /kind -->\n\nb\n\n<!-- kind:y --><!-- /kind -->\n<!-- other:x -->\n';
	const sections = new Map([
		['x', '| new |'],
		['y', '$1'],
	]);
	expect(withSections(text, 'kind', sections)).toBe(
		'a\n\n<!-- kind:x -->\n\n| new |\n\n<!-- /kind -->\n\nb\n\n<!-- kind:y -->\n\n$1 <!-- /kind -->\n<!-- other:x -->\n',
	);
	expect(() => withSections(text, 'kind', new Map())).toThrow('x');
});
