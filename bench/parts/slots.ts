import { idealMakespan } from '../batch';
import { endToEnd } from '../end-to-end';
import { fixed } from '../figures';
import type { Part } from '../part';
import { printTable } from '../table';

/** The result that the end-to-end test writes. */
interface Measured {
	slots: number;
	items: number;
	seconds: number;
	/** Seconds of the whole execution, downloads included. */
	took: number;
}

interface Result {
	rows: Array<ReturnType<typeof row>>;
}

/** A batch with many slots in a real n8n, downloads included. */
export const slots: Part<Result> = {
	name: 'slots',
	onlyAsked: true,
	async run() {
		const results = await endToEnd('slots', {});
		const rows = ([...results.values()] as Measured[]).map(row);
		printTable('In a real n8n, downloads included', rows);
		return { rows };
	},
	tables: ({ rows }) => ({
		slots: rows.map((each) => ({
			'': each.batch,
			time: `${each['took (s)']} s`,
			'time ÷ ideal': each['makespan / ideal'].toFixed(2),
		})),
	}),
};

function row({ slots: limit, items, seconds, took }: Measured) {
	const ideal = idealMakespan(new Array<number>(items).fill(seconds), limit);
	return {
		batch: `${items} images of ${seconds} s, ${limit} slots`,
		'took (s)': fixed(took, 1),
		'makespan / ideal': fixed(took / ideal, 3),
	};
}
