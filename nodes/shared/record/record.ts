import { randomUUID } from 'crypto';

import { toResult } from '../../../client/async';
import type { KnownGeneration } from '../../../client/api/errors';
import type { Memory } from '../../../client/jobs/memory';
import type { CreateJob, Job, KeyedJob } from '../../../client/jobs/job';
import type { TablePorts } from '../../../client/orders/batched-table';
import type { Journal } from '../../../client/orders/journal';
import { newRow, requestFields, storedKey, type TableScope } from '../../../client/orders/table';
import { TableJournal } from '../../../client/orders/table-journal';
import { debugLog, typeCreatedBy } from '../execution';
import { keyScopeOfStep } from '../form/step-options';
import { wallClock } from '../http/clock';
import { dataTable, insertMissing } from './data-table';
import type { Step } from '../step';

/** The idempotency key of an item; `null` if it has none. */
export function keyOf(job: KeyedJob): string | null {
	return job.kind === 'create' ? (job.idempotencyKey ?? null) : null;
}

/**
 * Opens the table that stores idempotency keys, and reads the keys of all items. No creating request may be sent for
 * these items before that.
 *
 * @param journal the orders that are stored with the execution
 * @param memory what earlier runs of the step remember
 * @returns `null` if no item has a key
 * @throws GenerationError `record_unavailable`
 */
export async function openRecord(
	step: Step,
	journal: Journal,
	jobs: Job[],
	memory?: Memory,
): Promise<TableJournal | null> {
	const keys = jobs.map(keyOf).filter((key) => key !== null);
	if (keys.length === 0) return null;
	const record = new TableJournal(journal, scopeOf(step, memory), await portsOf(step));
	const begun = await toResult(async () => await record.begin(keys, memory));
	if (begun.ok) return record;
	await record.close();
	throw begun.error;
}

/** A generation that a step created. */
export interface CreatedGeneration {
	job: CreateJob;
	generation: KnownGeneration;
}

/**
 * Writes generations that were charged and that the step does not return, so that their ids can be found in n8n. One
 * that has a row gets no other. The new row has the idempotency key only if the row of that key could not be written.
 * Never throws: there may be no table.
 */
export async function recordUnreturned(
	step: Step,
	record: TableJournal | null,
	created: CreatedGeneration[],
): Promise<void> {
	// `hasRow` includes a row that is still to be written: after a stop, that may be later than this.
	const missing = created.filter(({ job }) => !record?.hasRow(job));
	if (missing.length === 0) return;
	await toResult(async () => {
		const rows = missing.map(({ job, generation: { id, status, model } }) => ({
			...newRow(...ownerAndKey(step, record && keyOf(job))),
			...requestFields(job),
			...(model && { model }),
			generation_id: id,
			status: status ?? '',
		}));
		await insertMissing(step, rows);
	});
}

/** @throws GenerationError `record_unavailable` */
async function portsOf(step: Step): Promise<TablePorts> {
	const table = await dataTable(step);
	return { table, clock: wallClock, signal: step.signal, debug: debugLog(step) };
}

/** A row without a key belongs to its node, also in a step with a key scope. */
function ownerAndKey(step: Step, key: string | null): [TableScope, string] {
	const scope = scopeOf(step);
	return key === null ? [{ ...scope, ...nodeOwner(step) }, ''] : [scope, storedKey(key)];
}

/** What the rows of a step belong to: its workflow and node, or its key scope, for all nodes of one type. */
type RowOwner = Pick<TableScope, 'workflowId' | 'nodeId' | 'type'>;

/** Returns what the rows of a step belong to. */
function rowOwnerOf(step: Step): RowOwner {
	const keyScope = keyScopeOfStep(step);
	if (keyScope === null) return nodeOwner(step);
	return { workflowId: '', nodeId: `scope:${keyScope}`, type: typeCreatedBy(step) ?? undefined };
}

function nodeOwner(step: Step): RowOwner {
	return { workflowId: step.n8n.getWorkflow().id ?? '', nodeId: nodeIdOf(step) };
}

function scopeOf(step: Step, memory?: Memory): TableScope {
	const batch = memory?.token;
	const run = randomUUID();
	const writer = batch === undefined ? run : `${batch}/${run.slice(0, 8)}`;
	return { ...rowOwnerOf(step), executionId: step.execution, writer, batch };
}

/**
 * The node id for the row's `node_id` column. n8n assigns ids only to the nodes of a saved workflow. A node of
 * a sub-workflow given as JSON may have none, and is identified by its name. Its workflow id is that of the
 * calling workflow.
 */
function nodeIdOf(step: Step): string {
	const { id, name } = step.node;
	return id || `name:${name}`;
}
