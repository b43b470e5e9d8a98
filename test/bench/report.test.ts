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

it('sums the comparison up in four lines, with the command, the date and the machine', () => {
	const measured = { date: '2026-11-20', node: 'v20.0.0', cores: 2, memoryGiB: 24 };
	const cells = (name: string, ours: string, other: string) => ({ '': name, ours, other });
	const rows = [
		cells('time', '41 s', '608 s (14.7 times)'),
		cells('paid, after the 15th video failed', '80 credits', '136 credits, 14 videos paid twice'),
		cells('paid IDs still known after Stop', '20 of 20', '0 of 2'),
		cells('additional memory, for 10 files of 50 MB', '39 MB', '210 MB'),
	];
	const summary = report
		.sectionsOf({ compare: { measured, tables: { compare: rows } } })
		.get('summary');
	expect(summary?.match(/\| 41 s +\| 608 s +\|/)).not.toBeNull();
	expect(
		summary?.match(/charged twice after one of the videos failed +\| 0 +\| 14 +\|/),
	).not.toBeNull();
	expect(summary?.match(/\| 20 of 20 +\| 0 of 2 +\|/)).not.toBeNull();
	expect(summary?.match(/\| 39 MB +\| 210 MB +\|/)).not.toBeNull();
	expect(summary).toContain(
		'_`npm run bench -- compare`, 2026-11-20, Node.js 20.0.0, 2 cores, 24 GiB._',
	);
});

it('computes the median and the mean', () => {
	expect(report.median([3, 1, 2])).toBe(2);
	expect(report.mean([1, 2, 6])).toBe(3);
	expect(report.fixed(1.005_9, 2)).toBe(1.01);
});
