import { onAbort } from '../../client/async';
import type { SendRequest } from '../../client/ports';
import type { CreateJob } from '../../client/jobs/job';
import type { Memory } from '../../client/jobs/memory';
import { Journal, type StoredOrders } from '../../client/orders/journal';
import { SlotPool } from '../../client/orders/slot-pool';
import type { CallTable } from '../../client/orders/table';
import { TableJournal } from '../../client/orders/table-journal';
import { Pipeline, type PipelineResult } from '../../client/step/pipeline';
import { ServiceClient } from '../../client/api/client';
import { prompt, type MemoryTable, type TableFate } from './memory-table';
import { creating, type CreateChanges, type Step } from './step';

/** Returns a job for an item with an idempotency key. */
export function keyed(text: string, itemIndex: number, key: string, changes: CreateChanges = {}) {
	return creating(text, itemIndex, { idempotencyKey: key, ...changes });
}

interface KeyedSettings {
	/** Returns the latency and the failure of each table call. */
	fateOf?: () => TableFate;
	/** Replaces the table. */
	reach?: (table: CallTable) => CallTable;
	/** What is stored with the execution. */
	stored?: StoredOrders;
	/** What earlier runs of the step remember. */
	memory?: Memory;
}

/** Runs one execution of a step whose items have keys, as `beginKeyed`. */
export async function runKeyed(
	step: Step,
	table: MemoryTable,
	execution: string,
	jobs: CreateJob[],
	fateOf?: () => TableFate,
): Promise<PipelineResult<string>> {
	return await step.time.run(beginKeyed(step, table, execution, jobs, { fateOf }));
}

/**
 * Starts one execution of a step whose items have keys, possibly beside others. The caller runs the virtual time.
 *
 * @param table exists beyond this execution
 * @param execution unique id of the execution
 */
export async function beginKeyed(
	step: Step,
	table: MemoryTable,
	execution: string,
	jobs: CreateJob[],
	{ fateOf = () => prompt, reach = (one) => one, stored = {}, memory }: KeyedSettings = {},
): Promise<PipelineResult<string>> {
	const { time } = step;
	const ports = { clock: step.clock, random: () => 0.5, signal: step.cancel.signal };
	const scope = { workflowId: 'w', nodeId: 'n', executionId: execution, writer: execution };
	const journal = new TableJournal(new Journal(stored, 0), scope, {
		...ports,
		table: reach(table.reachedBy(time, fateOf)),
	});
	try {
		await journal.begin(jobs.flatMap(({ idempotencyKey: key }) => key ?? []));
		return await new Pipeline(
			jobs,
			{
				...ports,
				memory,
				service: new ServiceClient({ ...ports, send: abortable(step) }),
				journal,
				probe: step.fake.probe,
				slots: new SlotPool(ports),
				cancel: step.cancel.signal,
				finish: async (...args) => await step.finish(...args),
			},
			step.settings,
		).run();
	} finally {
		await journal.close();
	}
}

/** Sends requests like the nodes' transport: the signal or a stop aborts read requests immediately. */
function abortable({ fake, cancel }: Step): SendRequest {
	return async (request, signal = cancel.signal) => {
		const sent = fake.send(request);
		if (request.method === 'POST') return await sent;
		return await new Promise((resolve, reject) => {
			sent.then(resolve, reject);
			for (const one of [signal, cancel.signal]) onAbort(one, () => reject(new Error('aborted')));
		});
	};
}
