import { cpus, loadavg, totalmem } from 'node:os';

import { tableOf, type Row } from '../tools/tables';

export type { Row };

/** Tables by the name that follows `bench:` in their markers. */
export type Tables = Record<string, Row[]>;

/** When and where a bench was run. */
interface Measured {
	date: string;
	node: string;
	cores: number;
	memoryGiB: number;
	/** The load average of the last minute when the bench started: other work on the machine. */
	load: number;
}

/** Returns the current circumstances. */
export function circumstances(): Measured {
	return {
		date: new Date().toISOString().slice(0, 10),
		node: process.version,
		cores: cpus().length,
		memoryGiB: Math.round(totalmem() / 1024 ** 3),
		load: fixed(loadavg()[0], 1),
	};
}

/** Returns what stands between the markers `bench:…` of the documentation, by their names. */
export function sectionsOf(bench: string, measured: Measured, tables: Tables): Map<string, string> {
	const source = sourceOf(bench, measured);
	const all = bench === 'compare' ? { ...tables, summary: summaryOf(tables.compare) } : tables;
	return new Map(
		Object.entries(all).map(([name, rows]) => [name, `${tableOf(rows)}\n\n${source}`]),
	);
}

/** The comparison in four lines, for the README. */
function summaryOf(compared: Row[]): Row[] {
	const line = (name: string, label: RegExp, tell = (cell: string) => cell): Row => {
		const row = compared.find((each) => label.test(String(each[''])));
		if (!row) throw new Error(`The comparison has no row ${label.source}`);
		const told = Object.entries(row).map(([approach, cell]) => [approach, tell(String(cell))]);
		return { ...(Object.fromEntries(told) as Row), '': name };
	};
	return [
		line('20 videos that take 20 s each, 10 at a time', /^time$/, (cell) =>
			cell.replace(/ \(.*/, ''),
		),
		line(
			'charged twice after one of the videos failed',
			/15th video failed/,
			(cell) => /(\d+) videos? paid twice/.exec(cell)?.[1] ?? '0',
		),
		line('memory, for 10 files of 50 MB', /^additional memory/),
	];
}

function sourceOf(bench: string, { date, node, cores, memoryGiB, load }: Measured): string {
	const machine = `Node.js ${node.slice(1)}, ${cores} cores, ${memoryGiB} GiB, at a load of ${load}`;
	return `_\`npm run bench -- ${bench}\`, ${date}, ${machine}._`;
}

export function mean(values: number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the median. With an even number of values, this is the upper of the two in the middle. */
export function median(values: number[]): number {
	return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
}

/** Returns a number rounded to this many decimal places. */
export function fixed(value: number, digits: number): number {
	return Number(value.toFixed(digits));
}

/** Returns bytes as whole megabytes. */
export function megabytes(bytes: number): string {
	return `${fixed(bytes / 1024 ** 2, 0)} MB`;
}
