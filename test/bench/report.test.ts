import { readFileSync } from 'node:fs';
import * as report from '../../bench/report';
import { pages, withSections } from '../../tools/tables';

const text = pages().map((page) => readFileSync(page, 'utf8'));

it('the documentation says what was measured: else npm run bench -- docs', () => {
	const sections = report.sectionsOf(report.readResults());
	for (const page of text) expect(withSections(page, 'bench', sections)).toBe(page);
	expect([...sections.keys()].filter((name) => !text.join().includes(`bench:${name} -->`))).toEqual(
		[],
	);
	expect(sections.size).toBeGreaterThan(10);
});

it('names the command, the date and the machine below a table', () => {
	const measured = { date: '2026-11-20', node: 'v20.0.0', cores: 2, memoryGiB: 24, load: 1.5 };
	const sections = report.sectionsOf({ some: { measured, tables: { x: [{ n: 1 }] } } });
	const source =
		'_`npm run bench -- some`, 2026-11-20, Node.js 20.0.0, 2 cores, 24 GiB, at a load of 1.5._';
	expect(sections.get('x')).toBe(`| n   |\n| --- |\n| 1   |\n\n${source}`);
});

it('computes the median and the mean', () => {
	expect(report.median([3, 1, 2])).toBe(2);
	expect(report.mean([1, 2, 6])).toBe(3);
	expect(report.fixed(1.005_9, 2)).toBe(1.01);
});
