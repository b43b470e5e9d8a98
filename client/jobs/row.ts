/** The rows of the data table, which outlives the execution. Each row is one generation of an idempotency key. */

/**
 * The columns of the table, all of type text, in the order in which a new table shows them. An empty text and NULL mean
 * the same, because a CSV file cannot tell them apart.
 */
export const TABLE_COLUMNS = [
	'status',
	'prompt',
	'key',
	'model',
	'type',
	'generation_id',
	'execution_id',
	'workflow_id',
	'node_id',
	'request',
	'writer',
] as const;

export type RowFields = Record<(typeof TABLE_COLUMNS)[number], string>;

/** A row is one generation. It is written right before the creating request, and gets the generation's id afterwards. */
export interface Row extends RowFields {
	id: number;
	/** When the row last changed, in milliseconds since the Unix epoch; `null` if the row has no valid date. */
	changedAt: number | null;
}
