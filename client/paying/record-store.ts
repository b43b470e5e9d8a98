import { attempt } from '../basics/attempt';
import { GenerationError, sentences } from '../wire/errors';

/**
 * The port to the record outside of the execution: a table whose rows can be read, added, and changed by
 * compare-and-set. Which row is written when, and what it means, is in `record.ts`.
 */

/** The name of the table, in the project of the workflow. */
export const RECORD_TABLE = 'media_generations';

/** Its columns, all of them texts. */
export const RECORD_COLUMNS = [
	'key',
	'workflow_id',
	'node_id',
	'execution_id',
	'generation_id',
	'status',
	'type',
	'model',
	'prompt',
	'request',
	'writer',
] as const;

export type RecordFields = Record<(typeof RECORD_COLUMNS)[number], string>;

/** One row: one generation. */
export interface RecordRow extends RecordFields {
	id: number;
	/** As the table writes it: the same for the whole life of the row. */
	born: string;
	/** Milliseconds since the Unix epoch; `null` where the table does not say. */
	changedAt: number | null;
}

export type Condition = [
	column: 'id' | keyof RecordFields,
	value: string | number,
	how?: 'is' | 'begins with',
];

/** Which rows: those that fulfil all of the conditions, or any one of them. */
export interface Where {
	match: 'all' | 'any';
	conditions: Condition[];
}

/** One compare-and-set. */
export interface Change {
	where: Where;
	set: Partial<RecordFields>;
}

/** Every call rejects where the table cannot be reached or refuses; whether it was carried out is not known then. */
export interface RecordStore {
	/** All rows that have one of these keys, of whatever workflow and node. */
	read(keys: string[]): Promise<RecordRow[]>;
	/** Adds rows. When it resolves, whoever reads sees them. */
	insert(rows: RecordFields[]): Promise<void>;
	/** Carries out changes, each of them at one blow, in any order. @returns for each the ids of the rows it hit */
	change(changes: Change[]): Promise<number[][]>;
	/** Removes rows, likewise. */
	remove(wheres: Where[]): Promise<number[][]>;
}

/**
 * The error of an item that has a key where there is no record to be had. Nothing was sent for it.
 *
 * @param why what is in the way, and what to do about it
 */
export function recordUnavailable(why: string): GenerationError {
	return new GenerationError({
		title: 'There is no record to keep the idempotency key in',
		description: sentences(
			why,
			'Nothing was sent for this item now. To go on without a record, remove the option Idempotency Key: what the node has paid for is then known to its own execution only',
		),
		code: 'record_unavailable',
	});
}

/** Runs what needs the record. @throws GenerationError `record_unavailable` where that fails */
export async function available<T>(run: () => Promise<T>): Promise<T> {
	const ran = await attempt(run);
	if (ran.ok) return ran.value;
	throw unavailable(ran.error);
}

/** Any error of the record as one that a person understands. */
export function unavailable(error: unknown): unknown {
	if (error instanceof GenerationError) return error;
	return recordUnavailable(error instanceof Error ? error.message : String(error));
}
