import { onAbort } from '../../client/async';
import type { SendRequest } from '../../client/ports';
import type { CreateJob } from '../../client/job';
import { Ledger } from '../../client/paying/ledger';
import { GenerationRecord } from '../../client/paying/record';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import { ServiceClient } from '../../client/api/client';
import { prompt, type MemoryTable } from './memory-table';
import { creating, type CreateChanges, type Step } from './step';

/** An item with an idempotency key. */
export function keyed(text: string, itemIndex: number, key: string, changes: CreateChanges = {}) {
	return creating(text, itemIndex, { idempotencyKey: key, ...changes });
}

/**
 * One execution of a step whose items have keys.
 *
 * @param table outlives it
 * @param execution whose name no other has
 */
export async function runKeyed(
	step: Step,
	table: MemoryTable,
	execution: string,
	jobs: CreateJob[],
): Promise<PipelineResult<string>> {
	const { time } = step;
	const ports = { clock: time, random: () => 0.5, signal: step.cancel.signal };
	const scope = {
		workflowId: 'w',
		nodeId: 'n',
		executionId: execution,
		writer: execution,
	};
	const record = new GenerationRecord(scope, {
		...ports,
		store: table.reachedBy(time, () => prompt),
	});
	const play = async () => {
		await record.begin(jobs.flatMap(({ idempotencyKey: key }) => key ?? []));
		const result = await runPipeline(
			jobs,
			{
				...ports,
				service: new ServiceClient({ ...ports, send: abortable(step) }),
				record,
				probe: step.fake.probe,
				cancel: step.cancel.signal,
				ledger: new Ledger({}, 0),
				finish: async (...args) => await step.finish(...args),
			},
			step.settings,
		);
		await record.close();
		return result;
	};
	return await time.run(play());
}

/** As the nodes' transport: what only reads is given up at once by its signal, and by a stop. */
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
