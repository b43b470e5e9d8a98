import { setTimeout as delay } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { AGAIN_AFTER_MS, COME_IN_MS } from '../../support/chaos/troubles';
import { newRow } from '../../support/chaos/verdict';
import type { Row } from '../../support/chaos/verdict';

/**
 * Calls for a batch.
 *
 * @returns what came of it
 * @throws where it ended badly, or not in time
 */
export type CallForBatch = (prompts: string[]) => Promise<unknown>;

/** Batches that come in one after the other, and again until each of their rows has come to an end, as by a schedule. */
export class Campaign {
	/** Calls beyond the first of a batch. */
	again = 0;
	/** Why calls brought no items, and how often. */
	readonly endedBadly: Record<string, number> = {};
	private readonly batches: Row[][];

	/**
	 * @param callFor brings the items of a batch
	 * @param prompts of each batch
	 */
	constructor(
		private readonly callFor: CallForBatch,
		prompts: string[][],
	) {
		this.batches = prompts.map((list) => list.map(newRow));
	}

	get rows(): Row[] {
		return this.batches.flat();
	}

	get open(): number {
		return this.rows.filter(isOpen).length;
	}

	/** Until every row has come to its end, or it is called off. */
	async run(signal: AbortSignal): Promise<void> {
		await Promise.all(
			this.batches.map(async (rows, index) => {
				let due = (index * COME_IN_MS) / this.batches.length;
				while (rows.some(isOpen) && (await delay(due, true, { signal }).catch(() => false))) {
					await this.call(rows);
					due = AGAIN_AFTER_MS;
				}
			}),
		);
	}

	private async call(rows: Row[]): Promise<void> {
		if (rows[0].arrived > 0) this.again++;
		else for (const row of rows) row.arrived = Date.now();
		try {
			const prompts = rows.map(({ prompt }) => prompt);
			settle(rows, itemsIn(await this.callFor(prompts), rows.length));
		} catch (error) {
			const { name, message } = error as Error;
			const how = name === 'Error' ? message : name;
			this.endedBadly[how] = (this.endedBadly[how] ?? 0) + 1;
		}
	}
}

const isOpen = ({ end }: Row) => end === null;

/** @throws where an answer is not one item for each row */
function itemsIn(answer: unknown, count: number): IDataObject[] {
	const items = Array.isArray(answer) ? (answer as IDataObject[]) : [];
	if (items.length === count) return items;
	const error = String(items[0]?.error ?? 'Answered without the items');
	// The reason, without what differs from batch to batch.
	throw new Error(error.slice(0, 80).replace(/\d+/g, 'N'));
}

/** Notes what came of each row. */
function settle(rows: Row[], items: IDataObject[]): void {
	rows.filter(isOpen).forEach((row) => {
		const { id, error_code: code } = items[rows.indexOf(row)];
		if (code === undefined) row.end = { id: String(id) };
		else if (code === 'uncertain_charge') row.end = 'uncertain';
		if (!isOpen(row)) row.settled = Date.now();
	});
}
