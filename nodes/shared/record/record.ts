import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';

import { attempt } from '../../../client/async';
import type { Job } from '../../../client/job';
import { GenerationRecord } from '../../../client/paying/record';
import { inForce, requestFields, storedKey } from '../../../client/paying/record-rows';
import {
	unavailable,
	type RecordFields,
	type RecordRow,
} from '../../../client/paying/record-store';
import { wallClock } from '../http/clock';
import { dataTable } from './data-table';
import { cancelSignal } from '../execution';

/** The idempotency key of an item; `null` if it has none. */
export function keyOf(job: Job): string | null {
	return job.kind === 'create' ? (job.idempotencyKey ?? null) : null;
}

/**
 * Opens the table that stores idempotency keys, and reserves the keys of all items. No creating request may be
 * sent for these items before that.
 *
 * @returns `null` if no item has a key
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
 * Reads the rows of jobs that have a key, by the key as it is stored. Reserves nothing.
 *
 * @throws GenerationError `record_unavailable`
 */
export async function rowsOf(
	context: IExecuteFunctions,
	jobs: Job[],
): Promise<Map<string, RecordRow>> {
	const keys = new Set(jobs.flatMap((job) => keyOf(job) ?? []).map(storedKey));
	const store = await dataTable(context);
	const read = await attempt(async () => await store.read([...keys]));
	if (!read.ok) throw unavailable(read.error);
	const workflowId = context.getWorkflow().id ?? '';
	const nodeId = nodeIdOf(context);
	const own = read.value.filter((row) => row.workflow_id === workflowId && row.node_id === nodeId);
	const byKey = new Map<string, RecordRow[]>();
	for (const row of own) byKey.set(row.key, [...(byKey.get(row.key) ?? []), row]);
	return new Map(
		[...byKey].flatMap(([key, rows]) => {
			const row = inForce(rows);
			return row ? [[key, row]] : [];
		}),
	);
}

/**
 * The node id for the row's `node_id` column. n8n assigns ids only to the nodes of a saved workflow. A node of
 * a sub-workflow given as JSON may have none, and is identified by its name. Its workflow id is that of the
 * calling workflow.
 */
function nodeIdOf(context: IExecuteFunctions): string {
	const { id, name } = context.getNode();
	return id || `name:${name}`;
}
