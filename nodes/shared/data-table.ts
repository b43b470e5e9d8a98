import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeParameters,
} from 'n8n-workflow';

import { attempt } from '../../client/basics/attempt';
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
} from '../../client/paying/record-store';
import { wrongColumns } from './data-table-errors';
import { isSaved } from './execution';
import { runTableNode, type Call } from './table-workflow';

/**
 * The record as an n8n Data Table, the database that every n8n has. n8n hands its tables to its own nodes only, so each
 * call is a small workflow that belongs to this one: a trigger, and n8n's Data Table node.
 */

/** So many conditions stand in one statement; databases bear no chain of any length. */
const MOST_CONDITIONS = 200;

/**
 * The table of the workflow's project, made when it is missing.
 *
 * @throws GenerationError `record_unavailable`, with what to do
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

	/** One call for those whose conditions are of one form. */
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

/** What a row holds in the table. */
type Cells = Record<string, string | null>;

/** An empty text is written as NULL: a CSV import leaves NULL too, and older releases find no empty text. */
function cells(fields: Partial<RecordFields>): Cells {
	return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text || null]));
}

/**
 * The conditions of a call. n8n takes no list of conditions from an item, only the value of each; and text that begins
 * with an equals sign would be evaluated, so such a value comes from the item. So do all of a call that has several
 * items. What need not be read from there stands here: n8n takes milliseconds for each, and for hundreds of them twice as
 * long as for the call itself.
 */
function filter(where: Where, single = false): INodeParameters {
	const { match, conditions } = where;
	const { values } = valuesOf(where);
	const fromItem = (value: string | number) => isEvaluated(value) || (match === 'all' && !single);
	return {
		matchType: match === 'all' ? 'allConditions' : 'anyCondition',
		filters: {
			conditions: conditions.map(([keyName, value, how = 'is'], index) => {
				// NULL equals nothing.
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

/** What a call sets: as its items say, or where there is only one as it stands. A parameter of n8n cannot be NULL. */
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

/** The indexes of changes by the form of their conditions: those of one form are the items of one call. */
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
		// People put it in by hand, and paste a line break along.
		generation_id: String(json.generation_id ?? '').trim(),
		id: Number(json.id),
		changedAt: Number.isNaN(changedAt) ? null : changedAt,
	};
}

/** Which of the items a row of the output has come of. */
function itemOf({ pairedItem }: INodeExecutionData): number {
	const [from] = [pairedItem].flat();
	return typeof from === 'object' ? from.item : (from ?? 0);
}

/** Lists, makes, and lists again where somebody was quicker; n8n itself finds by a part of the name. */
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
