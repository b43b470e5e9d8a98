import { randomUUID } from 'crypto';

import { toResult } from '../../../client/async';
import type { KnownGeneration } from '../../../client/api/errors';
import type { Memory } from '../../../client/jobs/memory';
import type { CreateJob, Job, KeyedJob } from '../../../client/jobs/job';
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
 * Opens the table, and reads the rows of all idempotency keys. Call this before any creating request for these items.
 * Returns `null` if no item has an idempotency key. Throws GenerationError `record_unavailable` if the table does not work.
 */
export async function openRecord(
	step: Step,
	journal: Journal,
	jobs: Job[],
	memory?: Memory,
): Promise<TableJournal | null> {
	const keys = jobs.map(keyOf).filter((key) => key !== null);
	if (keys.length === 0) return null;
	const ports = { clock: wallClock, signal: step.signal, debug: debugLog(step) };
	const table = await dataTable(step);
	const record = new TableJournal(journal, scopeOf(step, memory), { ...ports, table });
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
 * Inserts a row for each charged generation that has no row, because the step will not return these generations. The row
 * has an idempotency key only if the item has one and `record` is set. Never throws: there may be no table.
 */
export async function recordUnreturned(
	step: Step,
	record: TableJournal | null,
	created: CreatedGeneration[],
): Promise<void> {
	// `hasRow` is also true while `TableJournal` is still writing the row. No second row may be inserted then.
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

function ownerAndKey(step: Step, key: string | null): [TableScope, string] {
	const scope = scopeOf(step);
	return key === null ? [{ ...scope, ...nodeOwner(step) }, ''] : [scope, storedKey(key)];
}

/** The node as the owner of rows: of those without an idempotency key and, without a key scope, also of those with one. */
function nodeOwner({ n8n, node }: Step) {
	// In a sub-workflow that is given as JSON, nodes may have no id. The node's name then identifies the node.
	return { workflowId: n8n.getWorkflow().id ?? '', nodeId: node.id || `name:${node.name}` };
}

/** The owner and the writer of a step's rows. The owner is the node or, with a key scope, all nodes of one type. */
function scopeOf(step: Step, memory?: Memory): TableScope {
	const token = memory?.token;
	const run = randomUUID();
	const writer = token === undefined ? run : `${token}/${run.slice(0, 8)}`;
	const keyScope = keyScopeOfStep(step);
	const type = typeCreatedBy(step) ?? undefined;
	const owner =
		keyScope === null ? nodeOwner(step) : { workflowId: '', nodeId: `scope:${keyScope}`, type };
	return { ...owner, executionId: step.execution, writer, token };
}
