import { createHash } from 'crypto';
import { fallbackOf, type CreateJob } from '../jobs/job';
import { TABLE_COLUMNS, type Row, type RowFields } from '../jobs/row';

/** Name of the n8n data table for idempotency keys. It is in the workflow's project, and outlives the execution. */
export const TABLE_NAME = 'media_generations';

export type Condition = [column: 'id' | keyof RowFields, value: string | number];

export interface Where {
	match: 'all' | 'any';
	conditions: Condition[];
}

/** Updates all rows that match; with `set: null`, deletes them. Atomic only with `match: 'all'`: a long `any` is split. */
export interface Change {
	where: Where;
	set: Partial<RowFields> | null;
	/** True if the change must be carried out even if the execution is stopped. */
	final?: boolean;
}

/** What one call of the table does: `changes`, then `inserts` and `made`, then it reads `keys`. */
export interface TableCall {
	changes: Change[];
	inserts: RowFields[];
	/** New rows with generation ids. The rows that were written before the requests (see `claimOf`) are then deleted. */
	made: RowFields[];
	/**
	 * True if an earlier call may have inserted the rows of `inserts` and `made`. A row is then inserted only if the table has
	 * none with the same `writer` and `generation_id`. Default: false.
	 */
	isRepeated?: boolean;
	/** Idempotency keys whose rows are read afterwards. */
	keys: string[];
}

/**
 * Calls the table. Returns all rows with one of the keys, from every workflow and node.
 *
 * @throws UnansweredError, a GenerationError if calling again cannot help, or another Error. The table may have carried
 * out any part of the call anyway.
 */
export type CallTable = (call: TableCall) => Promise<Row[]>;

/** The execution, or the call of an AI agent, has ended before the table's answer. Final changes are still carried out. */
export class UnansweredError extends Error {
	constructor() {
		super('The execution was stopped before the data table answered');
		this.name = 'UnansweredError';
	}
}

/** Which rows belong to a step, and how it marks the rows that it writes. */
export interface TableScope {
	/** Empty if the rows belong to a key scope, which several workflows share. */
	workflowId: string;
	/** The id of the node, or `scope:` and the name of the key scope. */
	nodeId: string;
	/** Set only with a key scope, where image and video nodes have separate keys. */
	type?: string;
	executionId: string;
	/** A token that is unique to this run of the step. */
	writer: string;
	/** Set only if the step may sleep: in all runs of the step, `writer` begins with this token. */
	token?: string;
}

/** Status of a row whose creating request was sent, or is about to be. */
export const SENT = 'sent';
/** Status of a row whose creating request may have been charged: the response was lost, or the writer died. */
export const UNCERTAIN = 'uncertain';

/** True if the row has a generation, even one that has failed. */
export const hasId = (row: RowFields) => row.generation_id !== '';
/** A failed generation was refunded, so its row does not block a new one. */
export const isLive = ({ status }: { status?: string }) => status !== 'failed';

/** True if a row belongs to the step. With a key scope, `workflowId` and `nodeId` identify the scope instead of the node. */
export function isOwnedBy({ workflowId, nodeId, type }: TableScope, row: RowFields): boolean {
	if (row.workflow_id !== workflowId || row.node_id !== nodeId) return false;
	return type === undefined || row.type === type;
}

/** Returns a new row of a key. The columns about its request are still empty. */
export function newRow(
	{ workflowId, nodeId, executionId }: Omit<TableScope, 'writer' | 'token'>,
	key: string,
): RowFields {
	const empty = Object.fromEntries(TABLE_COLUMNS.map((name) => [name, ''])) as RowFields;
	const step = { workflow_id: workflowId, node_id: nodeId, execution_id: executionId };
	return { ...empty, ...step, key };
}

/** Returns the row that counts for a key: the oldest with a generation id, else the oldest. Failed rows never count. */
export function rowInForce(rows: Row[]): Row | null {
	const rank = (row: Row) => Number(hasId(row));
	const live = rows.filter(isLive).sort((a, b) => rank(b) - rank(a) || a.id - b.id);
	return live[0] ?? null;
}

/** Columns that show whether a row has changed. The `id` alone is not enough: a new row may get the id of a deleted one. */
const COMPARED = ['id', 'writer', 'status', 'generation_id'] as const;

/** True if the row was not written to between the two reads. */
export function sameState(one: Row, other: Row): boolean {
	return one.changedAt === other.changedAt && COMPARED.every((name) => one[name] === other[name]);
}

const MADE = '/made';

/** Returns the row of a generation. It replaces the row that was written before the request (the row of the claim). */
export function madeFrom<T extends RowFields>(claim: T, generation_id: string, status: string): T {
	return { ...claim, writer: `${claim.writer}${MADE}`, generation_id, status };
}

/** Matches the row of a claim while its `generation_id` is empty: no longer once a user has entered an id. */
export function claimOf({ writer }: RowFields): Where {
	return all(['writer', writer], ['generation_id', '']);
}

/** Matches the rows of claims that are replaced by the rows `made` (see `madeFrom`). */
export function claimsOf(made: RowFields[]): Where {
	const writers = made.map(({ writer }) => writer.slice(0, -MADE.length));
	return { match: 'any', conditions: writers.map((writer): Condition => ['writer', writer]) };
}

/** Returns the changes made even after a stop: the `final` ones, and those that write the ids of `made` to the claims. */
export function finalChanges({ changes, made }: Pick<TableCall, 'changes' | 'made'>): Change[] {
	const ids = made.map(({ generation_id, status, ...row }) => {
		return { where: claimsOf([row as RowFields]), set: { generation_id, status } };
	});
	return [...changes.filter((change) => change.final), ...ids];
}

export function all(...conditions: Condition[]): Where {
	return { match: 'all', conditions };
}

/** Matches a row only while it is unchanged. */
export function asSeen(row: Row): Where {
	return all(...COMPARED.map((name): Condition => [name, row[name]]));
}

const LONGEST_KEY = 300;
const LONGEST_PROMPT = 200;

/** Returns a key as the table stores it. A long key is truncated, and its digest is appended. */
export function storedKey(key: string): string {
	return storable(key, LONGEST_KEY, ` ${digest(key)}`);
}

/** Truncates a text, and replaces what databases reject: NUL (PostgreSQL), and half of an emoji that was cut in two. */
function storable(text: string, most: number, ending = ''): string {
	const cut = text.slice(0, most).replace(/[\0\p{Surrogate}]/gu, '\uFFFD');
	return text.length > most ? `${cut}…${ending}` : cut;
}

export type RequestFields = Pick<RowFields, 'type' | 'model' | 'prompt' | 'request'>;

/** Returns the columns that describe a job's request. `model` is the fallback model if one is in use. */
export function requestFields(job: CreateJob): RequestFields {
	const { digest: request, draft } = job;
	const asked = draft.body as { model?: unknown; prompt?: unknown };
	return {
		type: draft.type,
		model: fallbackOf(job) ?? String(asked.model ?? ''),
		prompt: storable(String(asked.prompt ?? ''), LONGEST_PROMPT),
		request,
	};
}

/** Returns a short digest of a text. */
export function digest(text: string): string {
	return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
