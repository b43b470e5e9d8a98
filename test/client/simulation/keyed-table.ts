import { toResult } from '../../../client/async';
import type { Row } from '../../../client/jobs/row';
import { finalChanges, UnansweredError, type CallTable } from '../../../client/orders/table';
import type { TableFate } from '../../support/memory-table';
import type { KeyedProcess } from './keyed-process';
import type { KeyedWorld } from './keyed-world';

/** The calls of one execution. */
interface Calls {
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
 * The table as one execution reaches it through n8n, as `nodes/shared/record/table-workflow.ts` does. After the
 * workflow's timeout only final writes are carried out, and their answers never come.
 */
export function tableOf(
	world: KeyedWorld,
	process: KeyedProcess,
	{ cancel, timeout, called, sent }: Calls,
): CallTable {
	const table = world.table.reachedBy(process.clock, () => {
		const fate = tableFate(world);
		return timeout.aborted ? fate : { ...fate, cut: timeout, isDropped: world.random() < 0.5 };
	});
	return async (call) => {
		called();
		const run = async (): Promise<Row[]> => {
			const rows = await table(call);
			judgeRows(world);
			const { changes, inserts } = call;
			const isSent = changes.some(({ set }) => set?.execution_id && set.status === 'sent');
			if (inserts.length > 0 || isSent) sent();
			await process.running();
			return rows;
		};
		const ran = timeout.aborted ? null : await toResult(run);
		if (ran?.ok) return ran.value;
		if (ran && !cancel.aborted) throw ran.error;
		const final = finalChanges(call);
		const last = { changes: final, inserts: [], made: [], keys: [] };
		if (final.length > 0) void toResult(async () => await table(last));
		throw new UnansweredError();
	};
}

/** Checks that a step has at most one row without an id per key. */
function judgeRows(world: KeyedWorld): void {
	const { table, schedule, copied, deeds } = world;
	if (schedule.tableFails > 0 || deeds > 0) return;
	const owners = new Set<string>();
	for (const { key, generation_id: id, writer } of table.rows) {
		if (!key || id || !writer || copied.has(Number(key))) continue;
		const owner = `${key} of ${writer.split('/')[0]}`;
		if (owners.has(owner)) world.blame(`There are two rows for the key ${owner}`);
		owners.add(owner);
	}
}

function tableFate(world: KeyedWorld): TableFate {
	const { tableMs, tableFails } = world.schedule;
	const times = { beforeMs: world.random() * tableMs, afterMs: world.random() * tableMs };
	if (!world.chance(tableFails)) return times;
	// The table may have carried out the call anyway: the result for these keys is unknown.
	for (const key of world.keys) world.unsure.add(key);
	return { ...times, fails: world.random() < 0.5 ? 'before' : 'after' };
}
