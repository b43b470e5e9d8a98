import { recordUnavailable } from '../../../client/orders/order-errors';
import { sentences, truncate } from '../../../client/text';
import { TABLE_NAME } from '../../../client/orders/table';

/** Error messages of n8n, each with an explanation for users. `mayPass`: true if a later call of the table may work. */
const KNOWN: Array<[pattern: RegExp, why: string, mayPass?: true]> = [
	[
		// While n8n starts, it wakes executions before its data tables are ready. A later call may then succeed.
		/module is disabled/i,
		'Data tables are not available yet: n8n may still be starting. If this error persists, remove data-table from N8N_DISABLED_MODULES',
		true,
	],
	[
		/size limit exceeded/i,
		'The data tables of this n8n instance are full. Delete rows that are no longer needed, or raise N8N_DATA_TABLES_MAX_SIZE_BYTES',
	],
	[
		// This n8n has no Data Table node, or an old one that lacks the operation or its parameters.
		/unrecognized node type|cannot read properties of undefined \(reading '(execute|description)'\)|could not get parameter/i,
		'Creating data tables from a workflow needs n8n 2.3 or later. Update n8n. If NODES_EXCLUDE contains the Data Table node, remove it there',
	],
];

/** Returns an error that explains and quotes n8n's error; a GenerationError if calling the table again cannot help. */
export function tableError(cause: unknown): Error {
	const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
	const quoted =
		name === 'TimeoutError' ? 'n8n did not respond in time' : `n8n says: ${truncate(message)}`;
	const known = KNOWN.find(([pattern]) => pattern.test(message));
	const [, why, mayPass] = known ?? [null, `The data table ${TABLE_NAME} could not be used`, true];
	const text = sentences(why, quoted);
	return mayPass ? new Error(text, { cause }) : recordUnavailable(text);
}
