import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { unavailable } from '../../../client/orders/order-errors';
import { TABLE_COLUMNS, type Row, type RowFields } from '../../../client/jobs/row';
import {
	claimsOf,
	finalChanges,
	TABLE_NAME,
	type CallTable,
	type Change,
	type Condition,
	type TableCall,
	type Where,
} from '../../../client/orders/table';
import { callPatiently } from '../../../client/orders/table-retries';
import { debugLog } from '../execution';
import { wallClock } from '../http/clock';
import { creation, listing, requireSavedWorkflow, tableOf } from './project-table';
import { OUTPUT_OF_SECOND, runTableNodes, type Operation } from './table-workflow';
import type { Step } from '../step';

/**
 * Stores idempotency keys in an n8n Data Table. n8n gives only its own nodes access to Data Tables. Each call
 * therefore runs a helper workflow with a trigger and n8n's Data Table nodes.
 */

/** The maximum number of conditions in one statement. Databases limit the length of a chain of conditions. */
const MOST_CONDITIONS = 200;

/**
 * Opens the table of the workflow's project, and creates it if it is missing. Returns the function that calls the table.
 * Throws GenerationError `record_unavailable`, with advice, if the table cannot be used.
 */
export async function dataTable(step: Step): Promise<CallTable> {
	const table = tableOf(step);
	const found = await toResult(async () => await patiently(step, table.id));
	if (!found.ok) throw unavailable(found.error);
	return async (call) => await table.use(async (id) => await carryOut(step, id, call));
}

async function patiently<T>(step: Step, call: () => Promise<T>): Promise<T> {
	const ports = { clock: wallClock, signal: step.signal, debug: debugLog(step) };
	return await callPatiently(ports, call);
}

/** Reads the rows that an execution wrote. */
export async function rowsOfExecution(step: Step, executionId: string): Promise<Row[]> {
	const where: Where = { match: 'all', conditions: [['execution_id', executionId]] };
	return await tableOf(step).use(async (id) => {
		const get = operationsOn(id)('get', { returnAll: true, ...filter(where) });
		const output = await runTableNodes(step, [get]);
		return output.map(({ json }) => parseRow(json));
	});
}

/**
 * Inserts rows of generations that have no row yet, even after the execution was stopped. n8n then still runs a helper
 * workflow, but returns no output to this code. Therefore, the helper workflow itself looks up the table's id.
 * Throws Error if the table cannot be used.
 */
export async function insertMissing(step: Step, rows: RowFields[]): Promise<void> {
	requireSavedWorkflow(step);
	const found = `${OUTPUT_OF_SECOND}.find(({ json }) => json.name === "${TABLE_NAME}")`;
	const into = operationsOn(`={{ ${found}.json.id }}`);
	const all = [{ ...creation, mayFail: true }, listing, insertUnless(into, ['generation_id'])];
	await patiently(step, async () => await runTableNodes(step, all, rows.map(cells), all));
}

/** Builds an `Operation` on the rows of one table. */
type RowOperation = (operation: string, parameters: INodeParameters) => Operation;

function operationsOn(tableId: string): RowOperation {
	const dataTableId = { __rl: true, mode: 'id', value: tableId };
	return (operation, parameters) => ({
		parameters: { resource: 'row', operation, dataTableId, ...parameters },
	});
}

/** The operation that inserts each input item as a row. */
function insert(row: RowOperation): Operation {
	const columns = { mappingMode: 'autoMapInputData', value: null };
	const options = { optimizeBulk: true };
	return { ...row('insert', { columns, options }), eachRow: true };
}

/** Inserts each input item, unless a row has the same values in `columns`. `null` in the item matches NULL in the row. */
function insertUnless(row: RowOperation, columns: Array<keyof RowFields>): Operation {
	const conditions = columns.map((keyName) => {
		return { keyName, keyValue: `={{ $json.${keyName} }}` };
	});
	const missing = row('rowNotExists', { matchType: 'allConditions', filters: { conditions } });
	return { ...missing, eachRow: true, next: insert(row) };
}

async function carryOut(step: Step, tableId: string, call: TableCall): Promise<Row[]> {
	const { changes, inserts, isRepeated, made } = call;
	const row = operationsOn(tableId);
	const writes = (some: Change[]) =>
		some.flatMap(({ where, set }) =>
			chunks(where).map((part) =>
				set === null
					? row('deleteRows', filter(part))
					: row('update', {
							...filter(part),
							columns: { mappingMode: 'defineBelow', value: literals(set) },
						}),
			),
		);
	const operations = writes(changes);
	// If this call is a retry, the first try may have added the rows although its answer was lost.
	const insertion = isRepeated ? insertUnless(row, ['writer', 'generation_id']) : insert(row);
	const added = [...inserts, ...made];
	if (added.length > 0) operations.push(insertion);
	if (made.length > 0) operations.push(...writes([{ where: claimsOf(made), set: null }]));
	const [first, ...others] = chunks({
		match: 'any',
		conditions: call.keys.map((key): Condition => ['key', key]),
	}).map((part) => row('get', { returnAll: true, ...filter(part) }));
	if (first) operations.push(first);
	const final = writes(finalChanges(call));
	const output = await runTableNodes(step, operations, added.map(cells), final);
	if (!first) return [];
	const rows = output.map(({ json }) => parseRow(json));
	for (const other of others) {
		// All writes were in the call above. Each call here only reads, so it can safely be repeated by itself.
		const more = await patiently(step, async () => await runTableNodes(step, [other]));
		rows.push(...more.map(({ json }) => parseRow(json)));
	}
	return rows;
}

function equals(keyName: string, value: string | number): INodeParameters {
	// Empty texts are stored as NULL, and a condition `eq` with an empty text does not match NULL.
	if (value === '') return { keyName, condition: 'isEmpty' };
	return { keyName, condition: 'eq', keyValue: literal(value) };
}

/** The cells of a new row. Empty texts become NULL, because conditions of older n8n releases cannot match an empty text. */
function cells(fields: RowFields): Record<string, string | null> {
	return Object.fromEntries(TABLE_COLUMNS.map((name) => [name, fields[name] || null]));
}

/** The values of an update. As in `cells`, an empty text becomes NULL. */
function literals(fields: Partial<RowFields>): Record<string, string> {
	const values = Object.entries(fields);
	return Object.fromEntries(
		values.map(([name, text]) => [name, text === '' ? '={{ null }}' : literal(text)]),
	);
}

function filter({ match, conditions }: Where): INodeParameters {
	return {
		matchType: match === 'all' ? 'allConditions' : 'anyCondition',
		filters: {
			conditions: conditions.map(([keyName, value]) => equals(keyName, value)),
		},
	};
}

/** n8n evaluates a text that starts with `=`. Such a text is replaced by an expression that evaluates to the same text. */
function literal<T extends string | number>(value: T): T | string {
	if (typeof value === 'number' || !value.startsWith('=')) return value;
	const escaped = Array.from({ length: value.length }, (_, index) => {
		return `\\u${value.charCodeAt(index).toString(16).padStart(4, '0')}`;
	});
	return `={{ "${escaped.join('')}" }}`;
}

/** Splits an `any` filter into parts of at most `MOST_CONDITIONS`. An `all` filter stays whole. */
function chunks({ match, conditions }: Where): Where[] {
	if (match === 'all') return [{ match, conditions }];
	const count = Math.ceil(conditions.length / MOST_CONDITIONS);
	return Array.from({ length: count }, (_, index) => {
		const from = index * MOST_CONDITIONS;
		return { match, conditions: conditions.slice(from, from + MOST_CONDITIONS) };
	});
}

function parseRow(json: IDataObject): Row {
	const fields = TABLE_COLUMNS.map((name) => [name, String(json[name] ?? '')]);
	const changedAt = Date.parse(String(json.updatedAt));
	return {
		...(Object.fromEntries(fields) as RowFields),
		key: String(json.key ?? '').normalize(),
		// Users enter the id by hand and may paste a line break.
		generation_id: String(json.generation_id ?? '').trim(),
		id: Number(json.id),
		changedAt: Number.isNaN(changedAt) ? null : changedAt,
	};
}
