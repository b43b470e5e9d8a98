import type { Toll } from '../../test/e2e/support/crash';
import { endToEnd } from '../end-to-end';
import type { Part } from '../part';
import { printTable } from '../table';

const ROUNDS = 30;

interface Result {
	rows: Array<ReturnType<typeof row>>;
}

/** Batches whose process is killed at a random moment, in regular and in queue mode. */
export const crash: Part<Result> = {
	name: 'crash',
	onlyAsked: true,
	async run() {
		const results = await endToEnd('crash', { MEDIA_CRASH_ROUNDS: String(ROUNDS) });
		const rows = [...results].map(([mode, toll]) => row(mode, toll as Toll));
		printTable(
			'A process is killed in the middle of a batch, and the same rows come in again',
			rows,
		);
		return { rows };
	},
	tables: ({ rows }) => ({ crash: rows }),
};

function row(mode: string, toll: Toll) {
	const { rounds, items, made, takenUp, uncertain, onTheWire, twice, lost } = toll;
	return {
		mode,
		rounds,
		items,
		'created when killed': made,
		reused: takenUp,
		uncertain,
		'sent less than 1 s before': onTheWire,
		'paid twice': twice,
		lost,
	};
}
