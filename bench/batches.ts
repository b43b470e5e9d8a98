import { runBatch, type BatchCase, type BatchResult } from './batch';
import { mean, type Row, type Tables } from './report';

type Case = Partial<Omit<BatchCase, 'seed' | 'seconds'>>;

/** Median seconds of a generation: the columns. */
const SECONDS = [1.5, 2, 4, 10, 30, 120];
const PLAIN: Omit<BatchCase, 'seed' | 'seconds'> = {
	...{ steps: 1, items: 100, limit: 10, maxConcurrent: 10 },
	...{ spread: 'each', readiness: 'auto' },
};

/** Returns a batch of ten items for each slot. */
const slots = (limit: number): Case => ({ items: 10 * limit, limit, maxConcurrent: limit });

/** The rows, with the columns for which they are measured. With two cases, a cell has two figures. */
const ROWS: Array<[name: string, cases: Case[], seconds: number[]]> = [
	['10 slots / log-normal', alikeAndNot({}), SECONDS],
	['10 slots, half T/3, half 5T/3', [{ spread: 'two speeds' }], SECONDS],
	['10 slots, only status checks', [{ readiness: 'status' }], SECONDS],
	['25 slots / log-normal', alikeAndNot(slots(25)), [2, 4, 10]],
	['50 slots / log-normal', alikeAndNot(slots(50)), [2, 4]],
	['100 slots / log-normal', alikeAndNot(slots(100)), [10, 30]],
	['two nodes share 10 slots', [{ steps: 2 }], [1.5, 2, 4, 10, 30]],
	['two nodes in two workers', [{ steps: 2, apart: true }], [1.5, 2, 4, 10]],
	['files 0.3 s before their status', [{ earlySeconds: 0.3 }], [2, 4, 10]],
	['files 1 s before their status', [{ earlySeconds: 1 }], [2, 4, 10]],
	['one in seven fails', [{ failingEvery: 7 }], [2, 4]],
	['a single image', [{ items: 1 }], [2, 4, 10, 30]],
];

function alikeAndNot(shape: Case): Case[] {
	return [shape, { ...shape, spread: 'log-normal' }];
}

/** The time that a batch takes, relative to the ideal, in virtual time. Each figure is the mean of several lists. */
export async function batches(quick: boolean): Promise<Tables> {
	const results: BatchResult[][][] = [];
	const rows: Row[] = [];
	for (const [name, cases, columns] of ROWS) {
		const cells: BatchResult[][] = [];
		const row: Row = { '': name };
		for (const seconds of SECONDS) {
			const figures: string[] = [];
			for (const shape of columns.includes(seconds) ? cases : []) {
				const lists = await runLists({ ...PLAIN, ...shape, seconds }, quick);
				figures.push(mean(lists.map(({ ratio }) => ratio)).toFixed(2));
				cells.push(lists);
			}
			row[`T = ${seconds} s`] = figures.join(' / ');
		}
		results.push(cells);
		rows.push(row);
	}
	const [usual, , status] = results;
	// The other half of the cells is log-normal.
	const alike = usual.filter((_, index) => index % 2 === 0);
	return {
		batch: [
			...rows,
			requestsRow('10 slots: status requests each', alike, 'statusRequestsPerGeneration', 1),
			requestsRow('10 slots: storage probes each', alike, 'probesPerGeneration', 0),
			requestsRow('only status checks: requests each', status, 'statusRequestsPerGeneration', 1),
		],
	};
}

async function runLists(shape: Omit<BatchCase, 'seed'>, quick: boolean): Promise<BatchResult[]> {
	const lists: BatchResult[] = [];
	const count = quick ? 1 : shape.limit > 10 ? 10 : 20;
	for (let seed = 1; seed <= count; seed++) lists.push(await runBatch({ ...shape, seed }));
	return lists;
}

function requestsRow(
	name: string,
	cells: BatchResult[][],
	key: 'statusRequestsPerGeneration' | 'probesPerGeneration',
	digits: number,
): Row {
	const figure = (lists: BatchResult[]) => mean(lists.map((list) => list[key])).toFixed(digits);
	const columns = SECONDS.map((seconds, index) => [`T = ${seconds} s`, figure(cells[index])]);
	return { '': name, ...Object.fromEntries(columns) };
}
