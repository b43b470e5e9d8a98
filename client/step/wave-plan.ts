import type { CollectJob, CreateJob, Job, KeyedJob, Tried } from '../jobs/job';
import type { Row } from '../jobs/row';
import { hasId, isLive, newRow, rowsInForce, storedKey } from '../orders/table';
import type { Spent } from '../orders/spend-guard';
import type { GenerationErrorFields } from '../api/errors';

/** One wave of a sleeping batch runs the same items again: it collects what has ended, and fills free slots. */

/** Maximum number of items that a wave begins before a sleep. It reads their keys a second time, in many table calls. */
const MOST_NEW = 1000;

/** What a step that sleeps knows of one item. Plain data: it is stored with the execution. */
export interface ItemState {
	/** Set if the item needs no further work: its error, or `null` if it has none. */
	end?: GenerationErrorFields | null;
	/** Its tries so far. */
	tried?: Tried;
	/**
	 * Its generation, and since when the batch waits for it, in milliseconds since the Unix epoch. `null` after an
	 * error. It is stored because its row can be deleted while the batch sleeps: the item would otherwise be charged
	 * again.
	 */
	generation?: { id: string; since: number } | null;
	/** The row of its generation, if it could not be written to the table. */
	row?: Row | null;
	/**
	 * When its creating request first failed at no charge because the service was down, in milliseconds since the Unix epoch.
	 * It is sent again until its timeout.
	 */
	downSince?: number | null;
}

/** The states of items, by index. */
export type ItemStates = Record<number, ItemState>;

/** What the waves of a batch tell each other. A wave reports only what it has changed in the items. */
export interface WaveState {
	items: ItemStates;
	/** What the batch has spent. */
	spent: Spent;
	/** How many of these were sent again for the same row, after a lost response. */
	resubmitted: number;
	/** Ids of failed generations that the waves have reacted to. The table may not have taken their status. */
	failed: string[];
	/** Ids of generations that the execution created for keys of this batch in earlier rounds of a loop. */
	earlier: string[];
	/** The durations of the last generations, in milliseconds. */
	durations: number[];
}

/** What earlier waves reported about the generations of a batch. */
export type GenerationState = Pick<WaveState, 'items' | 'failed'>;

/** The part of the state that `planWave` needs. */
type PlanState = Omit<WaveState, 'durations'>;

export interface WavePlan {
	state: PlanState;
	/** Jobs to run, first those whose generations exist. */
	jobs: Job[];
	/** The jobs of the step that they stand for, in the same order. */
	sources: CreateJob[];
	/** Number of jobs that have not ended. */
	left: number;
	/** What earlier waves have spent. */
	spentBefore: Spent;
	/** The rows that are still not in the table, by index of their item. */
	missing: Record<number, Row>;
	/** Items that reuse a completed generation, and so have no job. */
	reused: ItemStates;
}

/** The rows of items that could not be written to the table. */
export function unwrittenRows(items: ItemStates): Row[] {
	return Object.values(items).flatMap(({ row }) => row ?? []);
}

/** Adds what a wave has changed in the states of items. */
export function withChanges(items: ItemStates, changes: ItemStates = {}): ItemStates {
	const changed = Object.entries(changes).map(([index, change]) => [
		index,
		{ ...items[Number(index)], ...change },
	]);
	return { ...items, ...(Object.fromEntries(changed) as ItemStates) };
}

/**
 * Plans a wave.
 *
 * @param jobs of the step, each with an idempotency key
 * @param state what earlier waves reported
 * @param all the rows of the jobs in the record
 * @param batch the execution id in the rows of this batch
 * @param now milliseconds since the Unix epoch
 * @param terms `mostNew`: maximum number of items that the wave begins. `inOrder`: they are begun in the order of the items
 */
export function planWave(
	jobs: CreateJob[],
	state: PlanState,
	all: Row[],
	batch: string,
	now: number,
	{ mostNew = MOST_NEW, inOrder }: { mostNew?: number; inOrder: boolean },
): WavePlan {
	const { items, spent, resubmitted } = state;
	const rows = rowsOfBatch(all, jobs, state);
	const ofEarlierRounds = new Set(state.earlier);
	// In a loop, earlier runs of the step may have written rows for the same keys.
	const isOwnRow = (row: Row) =>
		row.execution_id === batch && !ofEarlierRounds.has(row.generation_id);
	const failures = all.filter((row) => isOwnRow(row) && !isLive(row));
	const left = jobs
		.filter(({ itemIndex }) => {
			return !hasEnded(items, itemIndex) && rows.get(itemIndex)?.status !== 'completed';
		})
		.map((job) => ({ ...job, tried: triedIn(failures, job, rows.get(job.itemIndex)) }));
	const isOwn = ({ itemIndex }: CreateJob) => {
		const row = rows.get(itemIndex);
		return row !== undefined && isOwnRow(row);
	};
	const sinceOf = ({ itemIndex }: CreateJob) => {
		const wait = items[itemIndex]?.generation;
		return wait?.id === rows.get(itemIndex)?.generation_id ? wait?.since : undefined;
	};
	const isRunning = (job: CreateJob) => isOwn(job) || sinceOf(job) !== undefined;
	const running = left.filter(isRunning);
	const isDown = ({ itemIndex }: CreateJob) =>
		!inOrder && typeof items[itemIndex]?.downSince === 'number';
	const unsent = left.filter((job) => !isRunning(job));
	// Items that failed in an outage come last: one that fails each time must not keep the rest from their turn.
	const others = [...unsent.filter((job) => !isDown(job)), ...unsent.filter(isDown)].slice(
		0,
		mostNew,
	);
	const collected = running.map((job) => {
		const row = rows.get(job.itemIndex) as Row;
		// The row of another execution, or of an earlier round, may be older than this batch. An own row may have changed since.
		const changedAt = isOwn(job) ? (row.changedAt ?? now) : Infinity;
		return collecting(job, row, now, Math.min(changedAt, sinceOf(job) ?? Infinity));
	});
	return {
		state,
		jobs: [...collected, ...others],
		sources: [...running, ...others],
		left: left.length,
		spentBefore: withUnreported(spent, all.filter(isOwnRow).length + resubmitted),
		missing: missingIn(all, items),
		reused: reusedBy(jobs, rows, items, now),
	};
}

/** A wave that died reported none of its requests, but the record has them. They count at the highest price. */
function withUnreported({ requests, credits, price }: Spent, recorded: number): Spent {
	const missing = Math.max(0, recorded - requests);
	return { requests: requests + missing, credits: credits + missing * price, price };
}

/** True if an item needs no further work. */
export function hasEnded(items: ItemStates, itemIndex: number): boolean {
	return items[itemIndex]?.end !== undefined;
}

/**
 * The tries of an item. A wave that died reported none of its failures, but the record has them.
 *
 * @param failures the failed rows of the batch
 * @param current the generation of the item, if there is one. If it failed, the wave is about to react to that
 */
function triedIn(failures: Row[], job: CreateJob, current?: Row): Tried | undefined {
	const key = storedKeyOf(job);
	const { length } = failures.filter((row) => row.key === key && row.id !== current?.id);
	const { tried } = job;
	if (length <= (tried?.failed ?? 0)) return tried;
	return { fallbacks: 0, ...tried, failed: length };
}

/** The items whose completed generations no wave has reported yet. They are stored, as their rows can be deleted. */
function reusedBy(
	jobs: CreateJob[],
	rows: Map<number, Row>,
	items: ItemStates,
	now: number,
): ItemStates {
	const reused: ItemStates = {};
	for (const { itemIndex } of jobs) {
		const row = rows.get(itemIndex);
		if (row?.status !== 'completed' || items[itemIndex]?.generation) continue;
		reused[itemIndex] = { generation: { id: row.generation_id, since: now } };
	}
	return reused;
}

/**
 * Returns the row of the generation of each item that has one, by index. A row that could not be written counts, too, and
 * so does one that was deleted since an earlier wave.
 */
export function rowsOfBatch(
	all: Row[],
	jobs: Array<KeyedJob & { itemIndex: number }>,
	{ items, failed }: GenerationState,
): Map<number, Row> {
	const ended = new Set(failed);
	const marked = (row: Row) => (ended.has(row.generation_id) ? { ...row, status: 'failed' } : row);
	const written = new Map(all.map((row) => [row.generation_id, marked(row)]));
	const inForce = rowsInForce(all.map(marked));
	const missing = Object.values(missingIn(all, items)).map(marked);
	missing.filter(isLive).forEach((row) => inForce.set(row.key, row));
	const rows = new Map<number, Row>();
	for (const job of jobs) {
		const row = inForce.get(storedKeyOf(job));
		const generation = items[job.itemIndex]?.generation;
		if (row && hasId(row)) rows.set(job.itemIndex, row);
		else if (generation) {
			// The row failed, and this item has not reported the failure yet, or the row was deleted.
			rows.set(job.itemIndex, written.get(generation.id) ?? deletedRow(job, generation));
		}
	}
	return rows;
}

function deletedRow(job: KeyedJob, { id, since }: { id: string; since: number }): Row {
	const row = newRow({ workflowId: '', nodeId: '', executionId: '' }, storedKeyOf(job));
	return { ...row, generation_id: id, id: 0, changedAt: since };
}

/** The rows of items that are not in the table, by index of their item. */
export function missingIn(all: Row[], items: ItemStates): Record<number, Row> {
	const written = new Set(all.map((row) => row.generation_id));
	const missing = Object.entries(items).flatMap(([index, { row }]) =>
		row && !written.has(row.generation_id) ? [[index, row] as const] : [],
	);
	return Object.fromEntries(missing);
}

/**
 * The job of an item whose generation exists. The job only waits for the generation, and ends with an error if that
 * failed. Only `waveResult` decides whether the next wave creates another one.
 *
 * @param now milliseconds since the Unix epoch
 * @param since when the batch began to wait, if that is known; otherwise the row's last change
 */
export function collecting(
	job: CreateJob,
	row: Row,
	now: number,
	since = row.changedAt ?? now,
): CollectJob {
	const { itemIndex, wait, readiness, timeoutMs, onTimeout } = job;
	return {
		kind: 'collect',
		id: row.generation_id,
		itemIndex,
		wait,
		readiness,
		timeoutMs,
		onTimeout,
		waitingSinceMs: Math.min(since, now - 1),
		row,
	};
}

/** The key under which the row of a job is stored. */
export function storedKeyOf({ idempotencyKey }: KeyedJob): string {
	return storedKey(idempotencyKey ?? '');
}
