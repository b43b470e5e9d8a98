import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { attempt } from '../../client/basics/attempt';
import type { Job } from '../../client/jobs/job';
import { GenerationRecord } from '../../client/paying/record';
import { storedKey } from '../../client/paying/record-rows';
import { wallClock } from './clock';
import { dataTable } from './data-table';
import { cancelSignal } from './execution';

/** The idempotency key of an item, where it has one. */
export function keyOf(job: Job): string | null {
	return job.kind === 'create' ? (job.idempotencyKey ?? null) : null;
}

/**
 * The record outside of the execution, with the keys of all items claimed: nothing of theirs is to leave before that.
 *
 * @returns `null` where no item has a key
 * @throws GenerationError `record_unavailable`
 */
export async function openRecord(
	context: IExecuteFunctions,
	jobs: Job[],
): Promise<GenerationRecord | null> {
	const keys = jobs.map(keyOf).filter((key) => key !== null);
	if (keys.length === 0) return null;
	const scope = {
		workflowId: context.getWorkflow().id ?? '',
		nodeId: context.getNode().id,
		executionId: context.getExecutionId(),
		writer: randomUUID(),
	};
	const store = await dataTable(context);
	const signal = cancelSignal(context);
	const record = new GenerationRecord(scope, {
		store,
		clock: wallClock,
		random: Math.random,
		signal,
	});
	const begun = await attempt(async () => await record.begin(keys.map(storedKey)));
	if (begun.ok) return record;
	await record.close();
	throw begun.error;
}
