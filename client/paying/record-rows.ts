import type { CreateRequest } from '../api/client';
import { digest } from './digest';
import { digestOf } from './order-name';
import { RECORD_COLUMNS, type RecordFields, type RecordRow } from './record-store';

/** The meaning of a row of the record. */

/** No request was sent. Any item or execution with the key may send it. */
export const CLAIMED = 'claimed';
/** A request was sent, or is about to be. Without an id, its result is unknown. */
export const SENT = 'sent';

/** Longer keys are truncated, and end with their digest. */
const LONGEST_KEY = 300;
const LONGEST_PROMPT = 200;

/** The step that a record is kept for. */
export interface RecordScope {
	workflowId: string;
	nodeId: string;
	executionId: string;
	/** A token that is unique to this step. */
	writer: string;
}

/** True if a generation was created. It may have failed since. */
export const hasId = (row: RecordRow) => row.generation_id !== '';
/** True if no request was sent for it. */
export const isFree = (row: RecordRow) => !hasId(row) && row.status === CLAIMED;
/** True if a request may have been sent for it, and no id is known. */
export const isOpenRow = (row: RecordRow) => !hasId(row) && !isFree(row);
/** A failed generation was refunded, so its row does not block a new one. */
const isLive = (row: RecordRow) => row.status !== 'failed';

/** Returns the row that counts if a key has several: one with an id, else a sent one, else the oldest claim. */
export function inForce(rows: RecordRow[]): RecordRow | undefined {
	const rank = (row: RecordRow) => (hasId(row) ? 0 : isFree(row) ? 2 : 1);
	return rows.filter(isLive).sort((a, b) => rank(a) - rank(b) || a.id - b.id)[0];
}

/** Returns the claims beside the row that counts. They were made at the same moment. */
export function surplus(rows: RecordRow[]): RecordRow[] {
	const chosen = inForce(rows);
	return rows.filter((row) => isFree(row) && row !== chosen);
}

/** True if the row was not written to between the two reads. */
export function sameState(one: RecordRow, other: RecordRow): boolean {
	const marks = ['id', 'writer', 'status', 'generation_id', 'changedAt'] as const;
	return marks.every((mark) => one[mark] === other[mark]);
}

/** Returns a key as the table stores and returns it. */
export function storedKey(key: string): string {
	if (key.length <= LONGEST_KEY) return storable(key);
	return `${storable(key.slice(0, LONGEST_KEY))}… ${digest(key)}`;
}

/** Returns the beginning of a prompt, as the table stores it. */
export function storedPrompt(prompt: string): string {
	if (prompt.length <= LONGEST_PROMPT) return storable(prompt);
	return `${storable(prompt.slice(0, LONGEST_PROMPT))}…`;
}

/** PostgreSQL rejects NUL. No database takes half a character, which truncation may leave of an emoji. */
function storable(text: string): string {
	return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** Returns the fields of a row that describe a request. */
export function requestFields(
	request: CreateRequest,
): Pick<RecordFields, 'type' | 'model' | 'prompt' | 'request'> {
	const { type, body } = request;
	const { model, prompt } = body as { model?: unknown; prompt?: unknown };
	return {
		type,
		model: String(model ?? ''),
		prompt: storedPrompt(String(prompt ?? '')),
		request: digestOf(request),
	};
}

/** True if a row already has these values. */
export function says(row: RecordRow, about: Partial<RecordFields>): boolean {
	return RECORD_COLUMNS.every((name) => about[name] === undefined || about[name] === row[name]);
}

/**
 * Returns a new row. Its request is not known yet.
 *
 * @param ticket writer of the row until it is sent
 */
export function claimedRow(
	{ workflowId, nodeId, executionId }: RecordScope,
	key: string,
	ticket: string,
): RecordFields {
	return {
		key,
		workflow_id: workflowId,
		node_id: nodeId,
		execution_id: executionId,
		generation_id: '',
		status: CLAIMED,
		type: '',
		model: '',
		prompt: '',
		request: '',
		writer: ticket,
	};
}

/** Returns the columns without those that the table sets itself. */
export function fieldsOf(row: RecordRow): RecordFields {
	return Object.fromEntries(RECORD_COLUMNS.map((name) => [name, row[name]])) as RecordFields;
}
