import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

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
	load?: number;
}

interface Result {
	measured: Measured;
	tables: Tables;
}

/** The results of all benches, by their names. */
type Results = Partial<Record<string, Result>>;

const FILE = join(__dirname, 'results.json');

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

/** Returns all stored results. */
export function readResults(): Results {
	return JSON.parse(readFileSync(FILE, 'utf8')) as Results;
}

/** Stores the tables of one bench. Reads the file again first, because another bench may have written to it. */
export function keepResult(name: string, measured: Measured, tables: Tables): void {
	const results: Results = { ...readResults(), [name]: { measured, tables } };
	writeFileSync(FILE, `${JSON.stringify(results, null, '\t')}\n`);
}

/** Returns what stands between the markers `bench:…` of the documentation, by their names. */
export function sectionsOf(results: Results): Map<string, string> {
	const sections = new Map<string, string>();
	for (const [bench, result] of Object.entries(results)) {
		if (!result) continue;
		const { measured, tables } = result;
		for (const [name, rows] of Object.entries(tables)) {
			sections.set(name, `${tableOf(rows)}\n\n${sourceOf(bench, measured)}`);
		}
	}
	if (results.compare) sections.set('summary', summaryOf(results.compare));
	return sections;
}

/** The comparison in four lines, for the README. */
function summaryOf({ tables, measured }: Result): string {
	const line = (name: string, label: RegExp, tell = (cell: string) => cell): Row => {
		const row = tables.compare.find((each) => label.test(String(each[''])));
		if (!row) throw new Error(`The comparison has no row ${label.source}`);
		const told = Object.entries(row).map(([approach, cell]) => [approach, tell(String(cell))]);
		return { ...(Object.fromEntries(told) as Row), '': name };
	};
	const lines = [
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
	return `${tableOf(lines)}\n\n${sourceOf('compare', measured)}`;
}

function sourceOf(bench: string, { date, node, cores, memoryGiB, load }: Measured): string {
	const busy = load === undefined ? '' : `, at a load of ${load}`;
	const machine = `Node.js ${node.slice(1)}, ${cores} cores, ${memoryGiB} GiB${busy}`;
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
