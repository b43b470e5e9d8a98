import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { attempt } from '../../client/basics/attempt';
import type { Job } from '../../client/jobs/job';
import { GenerationRecord } from '../../client/paying/record';
import { requestFields, storedKey } from '../../client/paying/record-rows';
import type { RecordFields } from '../../client/paying/record-store';
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
	const keys: string[] = [];
	const drafts = new Map<string, Partial<RecordFields>>();
	for (const job of jobs) {
		const key = keyOf(job);
		if (key === null) continue;
		keys.push(storedKey(key));
		if (job.kind === 'create' && job.draft) drafts.set(storedKey(key), requestFields(job.draft));
	}
	if (keys.length === 0) return null;
	const scope = {
		workflowId: context.getWorkflow().id ?? '',
		nodeId: nodeIdOf(context),
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
	const begun = await attempt(async () => await record.begin(keys, drafts));
	if (begun.ok) return record;
	await record.close();
	throw begun.error;
}

/**
 * What a row names the node by. n8n gives ids to the nodes of a saved workflow only. A sub-workflow given as JSON may have
 * none; its nodes are known by their names, and by the id of the workflow that calls it.
 */
function nodeIdOf(context: IExecuteFunctions): string {
	const { id, name } = context.getNode();
	return id || `name:${name}`;
}
