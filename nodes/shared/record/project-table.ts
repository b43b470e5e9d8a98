import { toResult } from '../../../client/async';
import { recordUnavailable, RENEW_TABLE } from '../../../client/orders/order-errors';
import { TABLE_COLUMNS } from '../../../client/jobs/row';
import { TABLE_NAME, UnansweredError } from '../../../client/orders/table';
import { isSaved } from '../execution';
import { wallClock } from '../http/clock';
import { runTableNodes, type Operation } from './table-workflow';
import type { Step } from '../step';

/** How long a table's id is reused. Then the name is looked up again, because a user may have renamed the table. */
const REMEMBERED_MS = 60_000;

const remembered = new Map<string, { id: string; at: number }>();

/** Returns the workflow's id. Throws GenerationError `record_unavailable` if the workflow is unsaved: it has no project. */
export function requireSavedWorkflow(step: Step): string {
	const { id = '' } = step.n8n.getWorkflow();
	if (isSaved(id)) return id;
	throw recordUnavailable(
		'The workflow has not been saved, so it has no project whose data table can store the idempotency key. Save the workflow',
	);
}

/** The table in the project of the step's workflow. Throws `record_unavailable` if the workflow is not saved. */
export function tableOf(step: Step) {
	const workflowId = requireSavedWorkflow(step);
	const idOf = async () => {
		const known = remembered.get(workflowId);
		if (known && wallClock.now() - known.at < REMEMBERED_MS) return known.id;
		const id = await findOrMake(step);
		remembered.set(workflowId, { id, at: wallClock.now() });
		return id;
	};
	return {
		id: idOf,
		/** Runs `call` with the table's id. If `call` fails, the table may be gone, so the next call looks up the name again. */
		use: async <T>(call: (id: string) => Promise<T>): Promise<T> => {
			const id = await idOf();
			const ran = await toResult(async () => await call(id));
			if (ran.ok) return ran.value;
			if (!(ran.error instanceof UnansweredError)) remembered.delete(workflowId);
			throw ran.error;
		},
	};
}

/** True if n8n's data tables work. While n8n starts, executions may run before the data tables work. Creates no table. */
export async function dataTablesWork(step: Step): Promise<boolean> {
	return (await toResult(async () => await runTableNodes(step, [listing]))).ok;
}

/**
 * Finds or creates the table, and returns its id. If creation fails, looks again: another step may have created the table.
 */
async function findOrMake(step: Step): Promise<string> {
	const there = await find(step);
	if (there !== undefined) return there;
	const made = await toResult(async () => await runTableNodes(step, [creation]));
	if (made.ok && made.value[0]) return String(made.value[0].json.id);
	const since = await find(step);
	if (since !== undefined) return since;
	throw made.ok ? new Error('n8n returned no ID for the new data table') : made.error;
}

/** The operation that creates the table. It fails if the table exists. */
export const creation: Operation = {
	parameters: {
		resource: 'table',
		operation: 'create',
		tableName: TABLE_NAME,
		columns: { column: TABLE_COLUMNS.map((name) => ({ name, type: 'string' })) },
		// With `true`, n8n checks only one table whose name contains this name, and may miss the table with exactly this name.
		options: { createIfNotExists: false },
	},
};

export const listing: Operation = {
	parameters: {
		resource: 'table',
		operation: 'list',
		returnAll: true,
		options: { filterName: TABLE_NAME },
	},
};

/**
 * Returns the table's id; `undefined` if there is no table. Compares whole names, because n8n's filter also matches a part
 * of a name. Throws GenerationError `record_unavailable` if a column is missing or is not of type string: number and date
 * columns, which n8n creates from a CSV file, change the text of keys.
 */
async function find(step: Step): Promise<string | undefined> {
	const tables = await runTableNodes(step, [listing]);
	const table = tables.find(({ json }) => json.name === TABLE_NAME)?.json;
	const columns = table?.columns as Array<Record<'name' | 'type', string>> | undefined;
	const isText = (name: string) =>
		columns?.some((one) => one.name === name && one.type === 'string');
	const wrong = columns ? TABLE_COLUMNS.filter((name) => !isText(name)) : [];
	if (wrong.length === 0) return table && String(table.id);
	throw recordUnavailable(
		`The data table ${TABLE_NAME} needs these columns with the type string: ${wrong.join(', ')}. ${RENEW_TABLE}`,
	);
}
