import { GenerationError, sentences } from '../wire/errors';

/**
 * The port to the record outside of the execution: a table whose rows can be read, added, and changed by
 * compare-and-set. Which row is written when, and what it means, is in `record.ts`.
 */

/** The name of the table, in the project of the workflow. */
export const RECORD_TABLE = 'media_generations';

/** Its columns, all of them texts. An empty text and NULL are the same: a CSV file holds no difference. */
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
	/** Carried out after the end of the execution too, when its result can no longer be read. */
	final?: boolean;
}

/** The execution has ended, so that the table's answer cannot be read. Final changes are carried out all the same. */
export class UnansweredError extends Error {
	constructor() {
		super('The execution was stopped before the data table answered');
		this.name = 'UnansweredError';
	}
}

/**
 * Every call rejects where the table cannot be reached, refuses, or gives no answer. Whether it was carried out is
 * unknown then.
 */
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

/** Any error of the record as one that a person understands. */
export function unavailable(error: unknown): unknown {
	if (error instanceof GenerationError) return error;
	return recordUnavailable(error instanceof Error ? error.message : String(error));
}

/** The table does not do what it was told. @param what is seen of that, as a sentence without a full stop */
export function tableTrouble(what: string): GenerationError {
	return recordUnavailable(
		`The data table ${RECORD_TABLE} does not keep what is written to it. ${what}. Rename the table and run the step again, so that a new one is created`,
	);
}

/** The error of a key whose request another execution does not bring to an end. */
export function stillSending({ id, key, execution_id: execution }: RecordRow): GenerationError {
	return recordUnavailable(
		`Execution ${execution} is still sending the request for the key "${key}" (row ${id} of the data table ${RECORD_TABLE}). Run the step again when that execution has ended`,
	);
}
