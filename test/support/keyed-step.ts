import { onAbort } from '../../client/async';
import type { SendRequest } from '../../client/ports';
import type { CreateJob } from '../../client/job';
import { Journal } from '../../client/orders/journal';
import { SlotPool } from '../../client/orders/slot-pool';
import { TableJournal } from '../../client/orders/table-journal';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import { ServiceClient } from '../../client/api/client';
import { prompt, type MemoryTable, type TableFate } from './memory-table';
import { creating, type CreateChanges, type Step } from './step';

/** Returns a job for an item with an idempotency key. */
export function keyed(text: string, itemIndex: number, key: string, changes: CreateChanges = {}) {
	return creating(text, itemIndex, { idempotencyKey: key, ...changes });
}

/**
 * Runs one execution of a step whose items have keys.
 *
 * @param table exists beyond this execution
 * @param execution unique id of the execution
 * @param fateOf returns the latency and the failure of each table call
 */
export async function runKeyed(
	step: Step,
	table: MemoryTable,
	execution: string,
	jobs: CreateJob[],
	fateOf: () => TableFate = () => prompt,
): Promise<PipelineResult<string>> {
	const { time } = step;
	const ports = { clock: time, random: () => 0.5, signal: step.cancel.signal };
	const scope = {
		workflowId: 'w',
		nodeId: 'n',
		executionId: execution,
		writer: execution,
	};
	const journal = new TableJournal(new Journal({}, 0), scope, {
		...ports,
		table: table.reachedBy(time, fateOf),
	});
	const play = async () => {
		await journal.begin(jobs.flatMap(({ idempotencyKey: key }) => key ?? []));
		const result = await runPipeline(
			jobs,
			{
				...ports,
				service: new ServiceClient({ ...ports, send: abortable(step) }),
				journal,
				probe: step.fake.probe,
				slots: new SlotPool(ports),
				cancel: step.cancel.signal,
				finish: async (...args) => await step.finish(...args),
			},
			step.settings,
		);
		await journal.close();
		return result;
	};
	return await time.run(play());
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
