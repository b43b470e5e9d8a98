import { circumstancesOf, type Comparison, type Row } from './comparison';

const width = 860;
const top = 92;
const rowHeight = 44;
const barHeight = 20;
const barLeft = 210;
const longestBar = 270;

/** What is written beside the bars: where, under which two lines, and what of a row. */
const columns: Array<{ x: number; heads: [string, string]; value: (row: Row) => string }> = [
	{ x: 600, heads: ['requests', 'a video'], value: (row) => row.speed.requestsPerVideo.toFixed(1) },
	{
		x: 700,
		heads: ['paid twice after', 'one failed'],
		value: ({ failedGeneration }) => String(failedGeneration.paidTwice),
	},
	{
		x: 800,
		heads: ['paid ids kept', 'at Stop'],
		value: ({ stop }) => `${stop.idsKept} of ${stop.paid}`,
	},
];

/** A ground of its own, as GitHub's theme need not be that of the system, which the colours follow. */
const style = `
	.ground { fill: #ffffff; stroke: #d0d7de; }
	text { font: 14px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
	.title { font-size: 16px; font-weight: 600; }
	.small { font-size: 12px; fill: #59636e; }
	.bar { fill: #afb8c1; }
	.own { fill: #1f883d; }
	text.first { font-weight: 600; }
	@media (prefers-color-scheme: dark) {
		.ground { fill: #0d1117; stroke: #3d444d; }
		text { fill: #f0f6fc; }
		.small { fill: #9198a1; }
		.bar { fill: #656c76; }
		.own { fill: #3fb950; }
	}`;

/**
 * The comparison as an SVG: a bar for the time of each approach, and what else differs beside it. By hand: it is more
 * of a table than of a chart, and chart libraries know neither columns of words nor the reader's theme.
 */
export function drawComparison(comparison: Comparison): string {
	const { rows, videos, secondsEach, limit } = comparison;
	const height = top + rows.length * rowHeight + 40;
	const longest = Math.max(...rows.map(({ speed }) => speed.seconds));
	const title = `${videos} videos of ${secondsEach} s each, ${limit} allowed at once`;
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${summaryOf(comparison)}">`,
		`<style>${style}\n</style>`,
		`<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>`,
		text(24, 36, title, 'title'),
		text(barLeft, 78, 'time until all are there', 'small'),
		...columns.flatMap(({ x, heads }) => [
			text(x, 62, heads[0], 'small', 'middle'),
			text(x, 78, heads[1], 'small', 'middle'),
		]),
		...rows.flatMap((row, index) => drawRow(row, index, longest)),
		text(24, height - 18, `npm run bench:compare, ${circumstancesOf(comparison)}`, 'small'),
		'</svg>\n',
	].join('\n');
}

function drawRow(row: Row, index: number, longest: number): string[] {
	const { approach, speed } = row;
	const baseline = top + index * rowHeight + rowHeight / 2 + 5;
	const bar = (speed.seconds / longest) * longestBar;
	const first = index === 0 ? 'first' : '';
	const y = baseline - 5 - barHeight / 2;
	return [
		text(24, baseline, approach, first),
		`<rect class="${index === 0 ? 'own' : 'bar'}" x="${barLeft}" y="${y}" width="${bar.toFixed(1)}" height="${barHeight}" rx="3"/>`,
		text(barLeft + bar + 8, baseline, `${Math.round(speed.seconds)} s`, first),
		...columns.map(({ x, value }) => text(x, baseline, value(row), first, 'middle')),
	];
}

function summaryOf({ rows }: Comparison): string {
	return escaped(
		rows.map(({ approach, speed }) => `${approach}: ${Math.round(speed.seconds)} s`).join('; '),
	);
}

function text(x: number, y: number, words: string, kind = '', anchor = 'start'): string {
	const classes = kind && ` class="${kind}"`;
	return `<text${classes} x="${Number(x.toFixed(1))}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

function escaped(words: string): string {
	return words.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');
}
