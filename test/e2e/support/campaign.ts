import { setTimeout as delay } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { AGAIN_AFTER_MS, COME_IN_MS } from '../../support/chaos/troubles';
import { newRow } from '../../support/chaos/verdict';
import type { Row } from '../../support/chaos/verdict';

/**
 * Requests a batch.
 *
 * @returns the response
 * @throws if the batch fails or takes too long
 */
export type CallForBatch = (prompts: string[]) => Promise<unknown>;

/** Sends batches one after the other, and again until each of their rows has finished, as a schedule does. */
export class Campaign {
	/** Number of calls after the first one, for all batches. */
	again = 0;
	/** Why calls returned no items, and how often. */
	readonly endedBadly: Record<string, number> = {};
	private readonly batches: Row[][];

	/**
	 * @param callFor requests the items of a batch
	 * @param prompts the prompts of each batch
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

	/** Runs until every row has finished, or until the signal aborts. */
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

/** @throws if the response does not have one item for each row */
function itemsIn(answer: unknown, count: number): IDataObject[] {
	const items = Array.isArray(answer) ? (answer as IDataObject[]) : [];
	if (items.length === count) return items;
	const error = String(items[0]?.error ?? 'Answered without the items');
	// The reason, without the parts that differ between batches.
	throw new Error(error.slice(0, 80).replace(/\d+/g, 'N'));
}

/** Records the result of each row. */
function settle(rows: Row[], items: IDataObject[]): void {
	rows.filter(isOpen).forEach((row) => {
		const { id, error_code: code } = items[rows.indexOf(row)];
		if (code === undefined) row.end = { id: String(id) };
		else if (code === 'uncertain_charge') row.end = 'uncertain';
		if (!isOpen(row)) row.settled = Date.now();
	});
}
