import { GenerationError } from '../api/errors';
import { sentences } from '../text';

/**
 * The port to the record outside of the execution: a table whose rows can be read, added, and changed by
 * compare-and-set. `record.ts` defines when each row is written.
 */

/** Name of the table, in the project of the workflow. */
export const RECORD_TABLE = 'media_generations';

/** Its columns, all of type text. An empty text and NULL mean the same, because a CSV file cannot tell them apart. */
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

/** One row is one generation. */
export interface RecordRow extends RecordFields {
	id: number;
	/** Milliseconds since the Unix epoch; `null` if the table does not tell. */
	changedAt: number | null;
}

export type Condition = [
	column: 'id' | keyof RecordFields,
	value: string | number,
	how?: 'is' | 'begins with',
];

/** Selects the rows that meet all of the conditions, or any of them. */
export interface Where {
	match: 'all' | 'any';
	conditions: Condition[];
}

/** One compare-and-set. */
export interface Change {
	where: Where;
	set: Partial<RecordFields>;
	/** Also carried out after the execution has ended, when its result can no longer be read. */
	final?: boolean;
}

/** The execution has ended, so the table's answer cannot be read. Final changes are still carried out. */
export class UnansweredError extends Error {
	constructor() {
		super('The execution was stopped before the data table answered');
		this.name = 'UnansweredError';
	}
}

/**
 * Every call rejects if the table is unreachable, refuses, or does not answer. It may have been carried out anyway.
 */
export interface RecordStore {
	/** Reads all rows with one of these keys, from every workflow and node. */
	read(keys: string[]): Promise<RecordRow[]>;
	/** Adds rows. Once it resolves, every read returns them. */
	insert(rows: RecordFields[]): Promise<void>;
	/**
	 * Applies changes in any order, each of them atomically.
	 *
	 * @returns for each change, the ids of the changed rows
	 */
	change(changes: Change[]): Promise<number[][]>;
	/**
	 * Deletes rows.
	 *
	 * @returns for each condition, the ids of the deleted rows
	 */
	remove(wheres: Where[]): Promise<number[][]>;
}

/**
 * Builds the error of an item with a key if the table cannot be used. Nothing was sent for the item.
 *
 * @param why the cause, and how to fix it
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

/** Converts any error of the table into a `record_unavailable` error. A GenerationError stays as it is. */
export function unavailable(error: unknown): unknown {
	if (error instanceof GenerationError) return error;
	return recordUnavailable(error instanceof Error ? error.message : String(error));
}

/**
 * Builds the error of a table that does not keep its changes.
 *
 * @param what the symptom, as a sentence without a period
 */
export function tableTrouble(what: string): GenerationError {
	return recordUnavailable(
		`The data table ${RECORD_TABLE} does not keep what is written to it. ${what}. Rename the table and run the step again, so that a new one is created`,
	);
}

/** Builds the error of a key whose request another execution has not finished in time. */
export function stillSending({ id, key, execution_id: execution }: RecordRow): GenerationError {
	return recordUnavailable(
		`Execution ${execution} is still sending the request for the key "${key}" (row ${id} of the data table ${RECORD_TABLE}). Run the step again when that execution has ended`,
	);
}
