import { NodeOperationError } from 'n8n-workflow';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
} from 'n8n-workflow';

import { TABLE_COLUMNS } from '../../../client/jobs/row';
import { bareNode } from '../../../tools/engine/bare-node';

export const dataTableType = 'n8n-nodes-base.dataTable';

interface Table {
	id: string;
	name: string;
	columns: string[];
	rows: IDataObject[];
	nextId: number;
}

interface Condition {
	keyName: string;
	/** n8n leaves it out for the operations without one, which compare for equality. */
	condition?: 'eq' | 'neq' | 'like' | 'isEmpty' | 'isNotEmpty';
	keyValue?: unknown;
}

/** As n8n declares it for the operations rowExists and rowNotExists: it drops a condition that is given anyway. */
const never: INodeProperties['displayOptions'] = { show: { '@version': [{ _cnd: { lt: 0 } }] } };

/** The filters of some operations, with the displayOptions of n8n's node. */
function filters(
	displayOptions: INodeProperties['displayOptions'],
	ofCondition?: INodeProperties['displayOptions'],
): INodeProperties {
	return {
		displayName: 'Conditions',
		name: 'filters',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		default: {},
		displayOptions,
		options: [
			{
				name: 'conditions',
				displayName: 'Conditions',
				values: [
					{ displayName: 'Column', name: 'keyName', type: 'string', default: 'id' },
					{
						displayName: 'Condition',
						name: 'condition',
						type: 'string',
						default: 'eq',
						displayOptions: ofCondition,
					},
					{
						displayName: 'Value',
						name: 'keyValue',
						type: 'string',
						default: '',
						displayOptions: { hide: { condition: ['isEmpty', 'isNotEmpty', 'isTrue', 'isFalse'] } },
					},
				],
			},
		],
	};
}

const properties: INodeProperties[] = [
	{ displayName: 'Resource', name: 'resource', type: 'string', default: 'row' },
	{ displayName: 'Operation', name: 'operation', type: 'string', default: 'insert' },
	{ displayName: 'Data table', name: 'dataTableId', type: 'resourceLocator', default: '' },
	{ displayName: 'Name', name: 'tableName', type: 'string', default: '' },
	{ displayName: 'Must Match', name: 'matchType', type: 'string', default: 'anyCondition' },
	{ displayName: 'Return All', name: 'returnAll', type: 'boolean', default: false },
	{ displayName: 'Columns', name: 'columns', type: 'json', default: {} },
	{ displayName: 'Options', name: 'options', type: 'json', default: {} },
	filters({ hide: { operation: ['rowNotExists'] } }),
	filters({ show: { operation: ['rowNotExists'] } }, never),
];

/** n8n's data tables in memory, behind a stand-in for its Data Table node that is reached in the same way. */
export class DataTables implements INodeType {
	/** @param now milliseconds since 1970 */
	constructor(readonly now: () => number = Date.now) {}

	readonly tables: Table[] = [];
	/** Ids of the executions that used a table. Searches for the table do not count: in fast time, they are frequent. */
	readonly executions = new Set<string>();
	/** What each further call is refused with, until it is `null` again. */
	refusal: string | null = null;
	/** Called before each call; may throw. */
	before: (operation: string) => void | Promise<void> = () => undefined;

	readonly description = bareNode('dataTable', {
		description: { displayName: 'Data table', version: [1, 1.1], properties },
	}).description;

	/** No tables, and no faults. */
	reset(): void {
		this.tables.length = 0;
		this.executions.clear();
		this.refusal = null;
		this.before = () => undefined;
	}

	/** Makes a table with the columns of a record, or with none. */
	add(name: string, columns: string[] = [...TABLE_COLUMNS]): Table {
		const table = { id: `table-${this.tables.length + 1}`, name, columns, rows: [], nextId: 1 };
		this.tables.push(table);
		return table;
	}

	/** The rows of the table of that name; none where there is no such table. */
	rowsOf(name: string): IDataObject[] {
		return this.tables.find((table) => table.name === name)?.rows ?? [];
	}

	// n8n gives each node type a context of its own as `this`, so the tables are kept in the closure.
	readonly execute = executeOn(this);
}

function executeOn(tables: DataTables) {
	return async function (this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const operation = String(this.getNodeParameter('operation', 0));
		if (operation !== 'list') tables.executions.add(this.getExecutionId());
		await tables.before(operation);
		if (tables.refusal !== null) throw new NodeOperationError(this.getNode(), tables.refusal);
		const found = this.getInputData().flatMap((_, item) => {
			const json = carryOut(this, tables, operation, item);
			return json.map((row) => ({ json: { ...row }, pairedItem: { item } }));
		});
		return [found];
	};
}

function carryOut(
	context: IExecuteFunctions,
	all: DataTables,
	operation: string,
	item: number,
): IDataObject[] {
	const { tables, now } = all;
	if (context.getNodeParameter('resource', item) === 'table') {
		if (operation === 'list') {
			return tables.map(({ id, name, columns }) => ({
				id,
				name,
				columns: columns.map((column) => ({ name: column, type: 'string' })),
			}));
		}
		return [make(context, all, item)];
	}
	const { value } = context.getNodeParameter('dataTableId', item) as { value: string };
	const table = tables.find(({ id }) => id === value);
	if (!table) {
		throw new NodeOperationError(context.getNode(), `Data table "${value}" could not be found`);
	}
	const at = new Date(now()).toISOString();
	if (operation === 'insert') return [insert(table, context.getInputData()[item].json, at)];
	const rows = matching(context, table, item);
	if (operation === 'rowNotExists')
		return rows.length > 0 ? [] : [context.getInputData()[item].json];
	if (operation === 'deleteRows') table.rows = table.rows.filter((row) => !rows.includes(row));
	if (operation === 'update') {
		const set = context.getNodeParameter('columns.value', item) as IDataObject;
		for (const row of rows) Object.assign(row, set, { updatedAt: at });
	}
	return rows;
}

function make(context: IExecuteFunctions, all: DataTables, item: number): IDataObject {
	const name = String(context.getNodeParameter('tableName', item));
	const { column } = context.getNodeParameter('columns', item) as {
		column: Array<{ name: string }>;
	};
	const existing = all.tables.find((table) => table.name === name);
	if (existing && context.getNodeParameter('options.createIfNotExists', item, false)) {
		return { id: existing.id, name };
	}
	if (existing) {
		const message = `Data table with name '${name}' already exists in this project`;
		throw new NodeOperationError(context.getNode(), message);
	}
	const { id } = all.add(
		name,
		column.map((one) => one.name),
	);
	return { id, name };
}

function insert(table: Table, fields: IDataObject, at: string): IDataObject {
	const cells = Object.fromEntries(table.columns.map((name) => [name, fields[name] ?? null]));
	const row = { ...cells, id: table.nextId++, createdAt: at, updatedAt: at };
	table.rows.push(row);
	return row;
}

function matching(context: IExecuteFunctions, table: Table, item: number): IDataObject[] {
	const conditions = context.getNodeParameter('filters.conditions', item, []) as Condition[];
	const all = context.getNodeParameter('matchType', item) === 'allConditions';
	return table.rows.filter((row) => {
		const hits = conditions.map((condition) => isHit(row[condition.keyName], condition));
		return all ? hits.every(Boolean) : hits.some(Boolean);
	});
}

/** As in a database, NULL equals nothing. n8n looks for NULL where the value is `null`. */
function isHit(cell: unknown, { condition = 'eq', keyValue }: Condition): boolean {
	const isEmpty = cell === null || cell === '';
	if (condition === 'isEmpty') return isEmpty;
	if (condition === 'isNotEmpty') return !isEmpty;
	if (condition === 'eq' && keyValue === null) return cell === null;
	if (cell === null) return false;
	if (condition === 'neq') return cell !== keyValue;
	return condition === 'eq' ? cell === keyValue : isLike(String(cell), String(keyValue));
}

/** Like SQL's LIKE, but supports only a trailing `%`. */
function isLike(text: string, pattern: string): boolean {
	return pattern.endsWith('%') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
