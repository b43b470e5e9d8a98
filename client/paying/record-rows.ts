import type { CreateRequest } from '../wire/service';
import { digest } from './digest';
import { digestOf } from './order-name';
import { RECORD_COLUMNS, type RecordFields, type RecordRow } from './record-store';

/** What a row of the record means. */

/** Nobody's request has left: whoever is ready first may send. */
export const CLAIMED = 'claimed';
/** A request has left or is just about to. Without an id it is not known what came of it. */
export const SENT = 'sent';

/** Longer keys are cut, and told apart by their digest. */
const LONGEST_KEY = 300;
const LONGEST_PROMPT = 200;

/** The step that a record is kept for. */
export interface RecordScope {
	workflowId: string;
	nodeId: string;
	executionId: string;
	/** A token that nobody else has: who writes. */
	writer: string;
}

/** Whether it has come to a generation, whatever became of that. */
export const hasId = (row: RecordRow) => row.generation_id !== '';
/** Whether nothing has left for it. */
export const isFree = (row: RecordRow) => !hasId(row) && row.status === CLAIMED;
/** Whether a request may have left for it, of which no id came. */
export const isOpenRow = (row: RecordRow) => !hasId(row) && !isFree(row);
/** One that has failed was refunded: it no longer stands in the way of another. */
const isLive = (row: RecordRow) => row.status !== 'failed';

/** What counts where a key has several rows: what was made, before what was sent, before the oldest claim. */
export function inForce(rows: RecordRow[]): RecordRow | undefined {
	const rank = (row: RecordRow) => (hasId(row) ? 0 : isFree(row) ? 2 : 1);
	return rows.filter(isLive).sort((a, b) => rank(a) - rank(b) || a.id - b.id)[0];
}

/** Claims beside the row that counts: several had claimed at one moment. */
export function surplus(rows: RecordRow[]): RecordRow[] {
	const chosen = inForce(rows);
	return rows.filter((row) => isFree(row) && row !== chosen);
}

/** Whether nobody has written to a row in between. */
export function sameState(one: RecordRow, other: RecordRow): boolean {
	const marks = ['id', 'writer', 'status', 'generation_id', 'changedAt'] as const;
	return marks.every((mark) => one[mark] === other[mark]);
}

/** A key as the table holds it, and gives it back. */
export function storedKey(key: string): string {
	if (key.length <= LONGEST_KEY) return storable(key);
	return `${storable(key.slice(0, LONGEST_KEY))}… ${digest(key)}`;
}

/** The beginning of a prompt, as the table holds it. */
export function storedPrompt(prompt: string): string {
	if (prompt.length <= LONGEST_PROMPT) return storable(prompt);
	return `${storable(prompt.slice(0, LONGEST_PROMPT))}…`;
}

/** PostgreSQL takes no NUL, and no database half a character, such as a cut leaves of an emoji. */
function storable(text: string): string {
	return text.replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

/** What a row says of a request. */
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

/** Whether a row says this already. */
export function says(row: RecordRow, about: Partial<RecordFields>): boolean {
	return RECORD_COLUMNS.every((name) => about[name] === undefined || about[name] === row[name]);
}

/** A new row: of what is asked for nothing is known yet. @param ticket stands for its writer until it is sent */
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

/** What of a row is ours to write. */
export function fieldsOf(row: RecordRow): RecordFields {
	return Object.fromEntries(RECORD_COLUMNS.map((name) => [name, row[name]])) as RecordFields;
}
