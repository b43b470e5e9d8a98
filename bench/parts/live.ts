import { fixed, requireBounds } from '../figures';
import { runLive, type LiveCase } from '../live';
import type { Part } from '../part';
import { printTable } from '../table';

interface Result {
	rows: Array<Awaited<ReturnType<typeof row>>>;
}

/** A batch with the node in n8n's engine, over HTTP, in real time. */
export const live: Part<Result> = {
	name: 'live',
	async run() {
		const rows = [];
		for (const [items, limit, seconds, most] of [
			[30, 10, 2, 1.3],
			[30, 10, 4, 1.15],
			[250, 25, 2, 1.25],
			[250, 25, 4, 1.15],
		]) {
			const name = `${items} items of ${seconds} s, ${limit} at a time`;
			rows.push(await row(name, { items, limit, seconds }, most));
		}
		for (const readiness of ['auto', 'status'] as const) {
			const name = `25 items of 30 s at once, readiness ${readiness}`;
			rows.push(await row(name, { items: 25, limit: 25, seconds: 30, readiness }, '-'));
		}
		printTable("Through the node in n8n's engine, over HTTP, in real time", rows);
		requireBounds(rows);
		return { rows };
	},
	tables: ({ rows }) => ({
		live: rows.map((each) => ({
			'': each.batch,
			'time ÷ ideal': each['makespan / ideal'].toFixed(2),
			'CPU cores used by n8n': each['CPU of n8n (share of a core)'].toFixed(2),
		})),
	}),
};

async function row(batch: string, shape: LiveCase, most: number | '-') {
	const result = await runLive(shape);
	return {
		batch,
		'makespan / ideal': fixed(result.ratio, 3),
		'at most': most,
		'makespan (s)': fixed(result.makespanSeconds, 1),
		'CPU of n8n (share of a core)': fixed(result.cpuShare, 2),
	};
}
