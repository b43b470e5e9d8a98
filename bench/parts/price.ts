import { endToEnd } from '../end-to-end';
import { fixed, median } from '../figures';
import type { Part } from '../part';
import { printTable, type Row } from '../table';

const MEASUREMENTS = 3;

/** The result that the end-to-end test writes. */
interface Priced {
	mode: string;
	executions: number;
	items: number;
	concurrency: number;
	seconds: number;
	/** Seconds, one for each measurement. */
	without: number[];
	withKeys: number[];
	/** Seconds with keys, if the table also contains `rows` rows of other executions. */
	besideMany: number[];
	rows: number;
	/** Milliseconds that a table call takes, without and with those rows. */
	times: Record<string, number>;
	timesBesideMany: Record<string, number>;
}

interface Result {
	rows: Array<ReturnType<typeof row>>;
	times: Row[];
}

/** The same batches with and without idempotency keys. */
export const price: Part<Result> = {
	name: 'price',
	onlyAsked: true,
	async run() {
		const results = await endToEnd('price', { MEDIA_BENCH: String(MEASUREMENTS) });
		const priced = [...results.values()] as Priced[];
		const rows = priced.map(row);
		printTable('What keys cost: from the first beginning to the last end', rows);
		const times = priced.flatMap((one) => [
			{ mode: modeOf(one), ...one.times },
			{ mode: `${modeOf(one)}, beside ${one.rows} rows`, ...one.timesBesideMany },
		]);
		printTable('Milliseconds that a call of the table takes, by the number of rows', times);
		return { rows, times };
	},
	tables: ({ rows }) => ({
		price: rows.map((each) => ({
			n8n: each.mode,
			batch: each.batch,
			'without keys': `${each['without keys (s)'].toFixed(0)} s`,
			'with keys': `${each['with keys (s)'].toFixed(0)} s`,
			more: `${each['more (%)']} %`,
			'beside 100,000 rows': `${each['beside 100,000 rows (s)'].toFixed(0)} s`,
		})),
	}),
};

function row(one: Priced) {
	const { executions, items, seconds, without, withKeys, besideMany } = one;
	return {
		mode: modeOf(one),
		batch: `${executions} x ${items} items of ${seconds} s`,
		'without keys (s)': median(without),
		'with keys (s)': median(withKeys),
		'more (%)': fixed((median(withKeys) / median(without) - 1) * 100, 1),
		'beside 100,000 rows (s)': median(besideMany),
	};
}

function modeOf({ mode, concurrency }: Priced): string {
	return `${mode}, ${concurrency} slots`;
}
