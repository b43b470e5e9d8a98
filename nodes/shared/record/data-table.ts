import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeParameters,
} from 'n8n-workflow';

import { attempt } from '../../../client/async';
import {
	RECORD_COLUMNS,
	RECORD_TABLE,
	recordUnavailable,
	unavailable,
	type Change,
	type RecordFields,
	type RecordRow,
	type RecordStore,
	type Where,
} from '../../../client/paying/record-store';
import { wrongColumns } from './data-table-errors';
import { isSaved } from '../execution';
import { runTableNode, type Call } from './table-workflow';

/**
 * Stores idempotency keys in an n8n Data Table. n8n gives only its own nodes access to Data Tables. Each call
 * therefore runs a helper workflow with a trigger and n8n's Data Table node.
 */

/** The maximum number of conditions in one statement. Databases limit the length of a chain of conditions. */
const MOST_CONDITIONS = 200;

/**
 * Opens the table of the workflow's project, and creates it if it is missing.
 *
 * @throws GenerationError `record_unavailable`, with advice
 */
export async function dataTable(context: IExecuteFunctions): Promise<RecordStore> {
	if (!isSaved(context.getWorkflow().id)) {
		throw recordUnavailable(
			'The workflow has not been saved, and so belongs to no project whose data table could hold the key. Save it first',
		);
	}
	const found = await attempt(async () => await findOrMake(context));
	if (!found.ok) throw unavailable(found.error);
	return new DataTable(context, found.value);
}

class DataTable implements RecordStore {
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly tableId: string,
	) {}

	async read(keys: string[]): Promise<RecordRow[]> {
		const rows: RecordRow[] = [];
		for (let from = 0; from < keys.length; from += MOST_CONDITIONS) {
			const some = keys.slice(from, from + MOST_CONDITIONS);
			const where: Where = { match: 'any', conditions: some.map((key) => ['key', key]) };
			const found = await this.call('get', [valuesOf(where)], {
				returnAll: true,
				...filter(where),
			});
			rows.push(...found.map(({ json }) => rowOf(json)));
		}
		return rows;
	}

	async insert(rows: RecordFields[]): Promise<void> {
		const columns = { mappingMode: 'autoMapInputData', value: null };
		const options = { optimizeBulk: true };
		await this.call('insert', rows.map(cells), { columns, options });
	}

	async change(changes: Change[]): Promise<number[][]> {
		return await this.each('update', changes, (sets) => ({
			columns: { mappingMode: 'defineBelow', value: valueOf(sets) },
		}));
	}

	async remove(wheres: Where[]): Promise<number[][]> {
		return await this.each(
			'deleteRows',
			wheres.map((where) => ({ where, set: {}, final: true })),
		);
	}

	/**
	 * Groups changes with the same conditions into one call.
	 *
	 * @returns for each change, the ids of the rows that it changed
	 */
	private async each(
		operation: string,
		changes: Change[],
		parameters: (sets: Cells[]) => INodeParameters = () => ({}),
	): Promise<number[][]> {
		const hits = changes.map((): number[] => []);
		await Promise.all(
			alike(changes).map(async (group) => {
				const items = group.map((index) => {
					const { where, set } = changes[index];
					return { ...valuesOf(where), set: cells(set) };
				});
				const { where, final } = changes[group[0]];
				const form = filter(where, group.length === 1);
				const more = parameters(items.map(({ set }) => set));
				const rows = await this.call(operation, items, { ...more, ...form }, final);
				for (const row of rows) hits[group[itemOf(row)]].push(Number(row.json.id));
			}),
		);
		return hits;
	}

	private async call(
		operation: string,
		items: IDataObject[],
		parameters: INodeParameters,
		final?: boolean,
	): Promise<INodeExecutionData[]> {
		const dataTableId = { __rl: true, mode: 'id', value: this.tableId };
		const call: Call = { resource: 'row', operation, dataTableId, ...parameters };
		return await runTableNode(this.context, call, items, final);
	}
}

/** The columns of a row. */
type Cells = Record<string, string | null>;

/**
 * Stores an empty string as NULL. A CSV import leaves NULL too, and older n8n releases cannot match an empty
 * string.
 */
function cells(fields: Partial<RecordFields>): Cells {
	return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text || null]));
}

/**
 * The conditions of a call.
 *
 * n8n takes only the value of a condition from an item, not the list of conditions. A value that starts with
 * `=` would be evaluated, so it is read from the item. So are all values of a call with several items. Other
 * values are inlined, because n8n spends milliseconds evaluating each expression. Hundreds of them take twice
 * as long as the call.
 */
function filter(where: Where, single = false): INodeParameters {
	const { match, conditions } = where;
	const { values } = valuesOf(where);
	const fromItem = (value: string | number) => isEvaluated(value) || (match === 'all' && !single);
	return {
		matchType: match === 'all' ? 'allConditions' : 'anyCondition',
		filters: {
			conditions: conditions.map(([keyName, value, how = 'is'], index) => {
				// `eq` never matches NULL.
				if (value === '') return { keyName, condition: 'isEmpty' };
				return {
					keyName,
					condition: how === 'is' ? 'eq' : 'like',
					keyValue: fromItem(values[index]) ? `={{ $json.values[${index}] }}` : values[index],
				};
			}),
		},
	};
}

/**
 * The columns that a call sets: inline for a single item, otherwise read from the items. An n8n parameter
 * cannot be NULL.
 */
function valueOf(sets: Cells[]): INodeParameters | string {
	const [set, ...others] = sets;
	const asItStands = others.length === 0 && Object.values(set).every((text) => text !== null);
	return asItStands && !Object.values(set).some(isEvaluated)
		? (set as Record<string, string>)
		: '={{ $json.set }}';
}

function isEvaluated(value: string | number | null): boolean {
	return String(value).startsWith('=');
}

function valuesOf({ conditions }: Where): { values: Array<string | number> } {
	return {
		values: conditions.map(([, value, how = 'is']) => (how === 'is' ? value : `${value}%`)),
	};
}

/** Groups the indexes of changes by the form of their conditions. Each group becomes one call. */
function alike(changes: Change[]): number[][] {
	const groups = new Map<string, number[]>();
	changes.forEach(({ where, final }, index) => {
		const form = JSON.stringify([filter(where), final]);
		groups.set(form, [...(groups.get(form) ?? []), index]);
	});
	return [...groups.values()];
}

function rowOf(json: IDataObject): RecordRow {
	const fields = RECORD_COLUMNS.map((name) => [name, String(json[name] ?? '')]);
	const changedAt = Date.parse(String(json.updatedAt));
	return {
		...(Object.fromEntries(fields) as RecordFields),
		// Users enter the id by hand and may paste a line break.
		generation_id: String(json.generation_id ?? '').trim(),
		id: Number(json.id),
		changedAt: Number.isNaN(changedAt) ? null : changedAt,
	};
}

/** The index of the input item that a row of the output is paired with. */
function itemOf({ pairedItem }: INodeExecutionData): number {
	const [from] = [pairedItem].flat();
	return typeof from === 'object' ? from.item : (from ?? 0);
}

/**
 * Finds or creates the table. If creating fails, the tables are listed again: another step may have created it.
 * `find` compares names itself, because n8n's filter also matches a part of a name.
 */
async function findOrMake(context: IExecuteFunctions): Promise<string> {
	const there = await find(context);
	if (there !== undefined) return there;
	const column = RECORD_COLUMNS.map((name) => ({ name, type: 'string' }));
	const options = { createIfNotExists: false };
	const make = { resource: 'table', operation: 'create', tableName: RECORD_TABLE } as const;
	const made = await attempt(
		async () => await runTableNode(context, { ...make, columns: { column }, options }, [{}]),
	);
	if (made.ok && made.value[0]) return String(made.value[0].json.id);
	const since = await find(context);
	if (since !== undefined) return since;
	throw made.ok ? new Error('n8n did not make the data table') : made.error;
}

async function find(context: IExecuteFunctions): Promise<string | undefined> {
	const options = { filterName: RECORD_TABLE };
	const call: Call = { resource: 'table', operation: 'list', returnAll: true, options };
	const tables = await runTableNode(context, call, [{}]);
	const table = tables.find(({ json }) => json.name === RECORD_TABLE)?.json;
	if (!table) return undefined;
	const wrong = wrongColumns(table.columns);
	if (wrong) throw recordUnavailable(wrong);
	return String(table.id);
}
