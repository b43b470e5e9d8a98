import type {
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeParameters,
	IWorkflowBase,
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
import { orAborted } from './abort';
import { inPlainWords } from './data-table-errors';
import { cancelSignal, isSaved } from './execution';

/**
 * The record as an n8n Data Table, the database that every n8n has. n8n hands its tables to its own nodes only, so each
 * call is a small workflow that belongs to this one: a trigger, and n8n's Data Table node.
 */

/** So many conditions stand in one statement; databases bear no chain of any length. */
const MOST_CONDITIONS = 200;

/** A database that takes longer than this is not waited for: whether it has done what it was asked is not known then. */
const LONGEST_CALL_MS = 60_000;
/** And for each row that it is to work on. */
const LONGEST_ROW_MS = 50;

const DATA_TABLE = 'n8n-nodes-base.dataTable';

/** What the Data Table node is asked to do. Values never stand in here: they come as items, and are not evaluated. */
type Call = INodeParameters & { resource: 'table' | 'row'; operation: string };

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
		await this.call('insert', rows as unknown as IDataObject[], { columns, options });
	}

	async change(changes: Change[]): Promise<number[][]> {
		return await this.each('update', changes, (sets) => ({
			columns: { mappingMode: 'defineBelow', value: valueOf(sets) },
		}));
	}

	async remove(wheres: Where[]): Promise<number[][]> {
		return await this.each(
			'deleteRows',
			wheres.map((where) => ({ where, set: {} })),
		);
	}

	/** One call for those whose conditions are of one form. */
	private async each(
		operation: string,
		changes: Change[],
		parameters: (sets: Array<Change['set']>) => INodeParameters = () => ({}),
	): Promise<number[][]> {
		const hits = changes.map((): number[] => []);
		await Promise.all(
			alike(changes).map(async (group) => {
				const items = group.map((index) => {
					const { where, set } = changes[index];
					return { ...valuesOf(where), set };
				});
				const form = filter(changes[group[0]].where, group.length === 1);
				const more = parameters(group.map((index) => changes[index].set));
				const rows = await this.call(operation, items, { ...more, ...form });
				for (const row of rows) hits[group[itemOf(row)]].push(Number(row.json.id));
			}),
		);
		return hits;
	}

	private async call(
		operation: string,
		items: IDataObject[],
		parameters: INodeParameters,
	): Promise<INodeExecutionData[]> {
		const dataTableId = { __rl: true, mode: 'id', value: this.tableId };
		return await run(
			this.context,
			{ resource: 'row', operation, dataTableId, ...parameters },
			items,
		);
	}
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
			conditions: conditions.map(([keyName, , how = 'is'], index) => ({
				keyName,
				condition: how === 'is' ? 'eq' : 'like',
				keyValue: fromItem(values[index]) ? `={{ $json.values[${index}] }}` : values[index],
			})),
		},
	};
}

/** What a call sets: as its items say, or where there is only one as it stands. */
function valueOf(sets: Array<Change['set']>): INodeParameters | string {
	const [set, ...others] = sets;
	const asItStands = others.length === 0 && !Object.values(set).some(isEvaluated);
	return asItStands ? set : '={{ $json.set }}';
}

function isEvaluated(value: string | number): boolean {
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
	changes.forEach(({ where }, index) => {
		const form = JSON.stringify(filter(where));
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
		born: String(json.createdAt),
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
		async () => await run(context, { ...make, columns: { column }, options }, [{}]),
	);
	if (made.ok && made.value[0]) return String(made.value[0].json.id);
	const since = await find(context);
	if (since !== undefined) return since;
	throw made.ok ? new Error('n8n did not make the data table') : made.error;
}

async function find(context: IExecuteFunctions): Promise<string | undefined> {
	const options = { filterName: RECORD_TABLE };
	const call: Call = { resource: 'table', operation: 'list', returnAll: true, options };
	const tables = await run(context, call, [{}]);
	const table = tables.find(({ json }) => json.name === RECORD_TABLE);
	return table && String(table.json.id);
}

/**
 * Runs the Data Table node once over the items. After the workflow's timeout n8n ends every small workflow that is
 * waited for, also one under way: the last writes are begun without waiting for them.
 */
async function run(
	context: IExecuteFunctions,
	parameters: Call,
	items: IDataObject[],
): Promise<INodeExecutionData[]> {
	const cancel = cancelSignal(context);
	const input = items.map((json) => ({ json }));
	const start = async (doNotWaitToFinish: boolean) => {
		const code = workflow(context, parameters);
		const running = context.executeWorkflow({ code }, input, undefined, { doNotWaitToFinish });
		const longest = AbortSignal.timeout(LONGEST_CALL_MS + LONGEST_ROW_MS * items.length);
		const { data } = await orAborted(longest, running);
		return data?.[0] ?? [];
	};
	const ran = await attempt(async () => await start(false));
	if (ran.ok) return ran.value;
	if (!cancel.aborted) throw new Error(inPlainWords(ran.error));
	return await start(true);
}

function workflow(context: IExecuteFunctions, parameters: Call): IWorkflowBase {
	const nodes: Array<Partial<INode>> = [
		{
			name: 'Rows',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		},
		{ name: 'Table', type: DATA_TABLE, typeVersion: 1.1, parameters },
	];
	return {
		name: `${context.getNode().name}: record`,
		nodes: nodes.map((node, index) => ({
			id: `record-${index}`,
			position: [220 * index, 0],
			...node,
		})),
		connections: { Rows: { main: [[{ node: 'Table', type: 'main', index: 0 }]] } },
		settings: {
			executionOrder: 'v1',
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			// The instance may allow no callers by default.
			callerPolicy: 'workflowsFromSameOwner',
		},
		active: false,
	} as unknown as IWorkflowBase;
}
