import { attempt } from '../../../client/async';
import { UnansweredError, type RecordStore } from '../../../client/paying/record-store';
import type { TableFate } from '../../support/memory-table';
import type { KeyedProcess } from './keyed-process';
import type { KeyedWorld } from './keyed-world';

/** The calls of one execution. */
export interface Calls {
	/** The user's Stop or the workflow's timeout. */
	cancel: AbortSignal;
	/** The workflow's timeout alone: n8n ends the calls in flight, which are carried out at once or never. */
	timeout: AbortSignal;
	/** Called before each call. */
	called: () => void;
	/** Called when a row says that its request is sent, before the execution learns that. */
	sent: () => void;
}

/**
 * The table as one execution reaches it through n8n, as `nodes/shared/record/table-workflow.ts` does. After the workflow's timeout
 * only final writes are carried out, and their answers never come.
 */
export function tableOf(
	world: KeyedWorld,
	process: KeyedProcess,
	{ cancel, timeout, called, sent }: Calls,
): RecordStore {
	const table = world.table.reachedBy(process.clock, () => {
		const fate = tableFate(world);
		return timeout.aborted ? fate : { ...fate, cut: timeout, isDropped: world.random() < 0.5 };
	});
	const call = async <T>(run: () => Promise<T>, final?: () => Promise<T>): Promise<T> => {
		called();
		const ran = timeout.aborted ? null : await attempt(run);
		if (ran?.ok) return ran.value;
		if (ran && !cancel.aborted) throw ran.error;
		if (final) void attempt(final);
		throw new UnansweredError();
	};
	return {
		read: async (keys) => await call(async () => await table.read(keys)),
		insert: async (rows) => {
			await call(async () => await table.insert(rows));
			judgeClaims(world);
		},
		change: async (changes) => {
			const last = changes.filter(({ final }) => final);
			const writeLast = async () => await table.change(last);
			const write = async () => {
				const hits = await table.change(changes);
				if (changes.some(({ set }) => set.execution_id && set.status === 'sent')) sent();
				await process.running();
				return hits;
			};
			return await call(write, last.length > 0 ? writeLast : undefined);
		},
		remove: async (wheres) => {
			const remove = async () => await table.remove(wheres);
			return await call(remove, remove);
		},
	};
}

/** An execution has one claim of a key at most for each item that has it. */
function judgeClaims(world: KeyedWorld): void {
	const { table, schedule, copied } = world;
	if (schedule.tableFails > 0) return;
	const owners = new Map<string, number>();
	for (const { key, status, writer } of table.rows) {
		if (status !== 'claimed' || !key || copied.has(Number(key))) continue;
		const owner = `${key} claimed by ${writer?.split('/')[0]}`;
		const count = (owners.get(owner) ?? 0) + 1;
		owners.set(owner, count);
		const items = schedule.keys.filter((one) => one === Number(key)).length;
		if (count > items) world.blame(`Key ${owner} ${count} times`);
	}
}

function tableFate(world: KeyedWorld): TableFate {
	const { tableMs, tableFails, keys } = world.schedule;
	const times = { beforeMs: world.random() * tableMs, afterMs: world.random() * tableMs };
	if (!world.chance(tableFails)) return times;
	// What the table was asked for may be done all the same, or not: nobody knows of these keys.
	for (const key of keys) world.unsure.add(key);
	return { ...times, fails: world.random() < 0.5 ? 'before' : 'after' };
}
