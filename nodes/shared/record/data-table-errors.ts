import { recordUnavailable, RENEW_TABLE } from '../../../client/orders/order-errors';
import { sentences, truncate } from '../../../client/text';
import { TABLE_COLUMNS } from '../../../client/jobs/row';
import { TABLE_NAME } from '../../../client/orders/table';
import { mayBeStarting } from './package-age';

/** n8n's messages when the table was deleted, or belongs to another project. */
const GONE = /could not be found|could not find the data table/i;

/** n8n's message when data tables are disabled, and also while n8n starts. */
const DISABLED = /module is disabled/i;

/** n8n's messages when no table is available and calling again cannot help, with the explanation for users. */
const KNOWN: Array<[pattern: RegExp, why: string]> = [
	[
		DISABLED,
		'Data tables are disabled on this n8n instance. Remove data-table from N8N_DISABLED_MODULES',
	],
	[
		/size limit exceeded/i,
		'The data tables of this n8n instance are full. Delete rows that are no longer needed, or raise N8N_DATA_TABLES_MAX_SIZE_BYTES',
	],
	[
		/unrecognized node type/i,
		'This n8n instance has no Data Table node. Update n8n to 2.3 or later. If NODES_EXCLUDE contains the node, remove it there',
	],
	[
		// The Data Table node has no such operation, or not its parameters.
		/cannot read properties of undefined \(reading '(execute|description)'\)|could not get parameter/i,
		'Creating data tables from a workflow needs n8n 2.3 or later. Update n8n',
	],
	[
		/unknown column|do not exist in the selected table/i,
		`The data table ${TABLE_NAME} does not have the required columns. ${RENEW_TABLE}`,
	],
	[
		GONE,
		`The data table ${TABLE_NAME} was deleted during the step. The next run creates a new one. A retry of this execution reuses what it was charged for; a new execution is charged for all items`,
	],
];

const STARTING =
	'Data tables are not available yet: n8n may still be starting. If this error persists, remove data-table from N8N_DISABLED_MODULES';

/** Explains an error of n8n, and quotes it. */
export function tableError(cause: unknown): Error {
	const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
	const known = KNOWN.find(([pattern]) => pattern.test(message));
	const quoted = `n8n says: ${truncate(message)}`;
	// n8n wakes executions before it starts its data tables.
	if (DISABLED.test(message) && mayBeStarting())
		return new Error(sentences(STARTING, quoted), { cause });
	if (known) return recordUnavailable(sentences(known[1], quoted)).with({ cause });
	const isLate = name === 'TimeoutError';
	const reason = isLate ? 'n8n did not respond in time' : quoted;
	return new Error(`The data table ${TABLE_NAME} could not be used. ${reason}`, { cause });
}

/** True if a call failed because there is no table with the id. n8n's own error is the cause of ours. */
export function isTableGone(error: unknown): boolean {
	const cause = error instanceof Error ? error.cause : null;
	return cause instanceof Error && GONE.test(cause.message);
}

/**
 * Says what is wrong with the columns of the table; `null` if nothing is. A table that n8n creates from a CSV file has
 * number and date columns, which change the text of keys.
 */
export function wrongColumns(columns: unknown): string | null {
	if (!Array.isArray(columns)) return null;
	const types = new Map(
		columns.map(({ name, type }: Record<'name' | 'type', string>) => [name, type]),
	);
	const wrong = TABLE_COLUMNS.filter((name) => types.get(name) !== 'string');
	if (wrong.length === 0) return null;
	return `The data table ${TABLE_NAME} needs these columns with the type string: ${wrong.join(', ')}. ${RENEW_TABLE}`;
}
