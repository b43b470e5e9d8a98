import { GenerationError } from '../api/errors';
import { sentences } from '../text';
import type { CreateJob } from '../job';
import type { Entry } from './journal';
import { TABLE_NAME, type Row } from './table';

/** Tells the user how to resolve an open order. There is one procedure with a row, and another without. */
function adviceFor(choice: CreateJob['onUncertainCharge'], row?: Row): string {
	const enter = row && `enter its ID in the column generation_id of row ${row.id} of ${TABLE_NAME}`;
	if (choice === 'resubmit') {
		return `A retry sends it again, as On Uncertain Charge says. To avoid a double charge, first look for the generation in the service’s app. If it exists, ${enter ?? 'get it with Wait for Completion, at no charge'}`;
	}
	const steps = row
		? `2. If it exists, ${enter}. 3. If not, delete row ${row.id}. 4. Start a new execution`
		: '2. If it exists, get it with Wait for Completion, at no charge. 3. If not, set On Uncertain Charge to Resubmit, save, and use “Retry with currently saved workflow”. This resends all uncertain items of the step, so look for all of them first. Afterward, set it back to Error. An execution that succeeded cannot be retried: run only this item in a new one';
	return `It was not sent again, to avoid a double charge. 1. Look for the generation in the service’s app. ${steps}`;
}

/**
 * Builds the error of an item whose creating request got no response.
 *
 * @param cause error of the request; `null` if an earlier attempt of the step left it open
 * @param entry stored state of the order
 * @param choice value of On Uncertain Charge
 */
export function uncertainCharge(
	cause: GenerationError | null,
	{ count, row }: Extract<Entry, { state: 'sent' }> = { state: 'sent', count: 1 },
	choice: CreateJob['onUncertainCharge'] = 'error',
): GenerationError {
	const onRecord = row && inRow(row);
	return new GenerationError({
		title:
			count > 1
				? `The service’s responses to ${count} requests were lost: up to ${count} may have been charged`
				: 'The service’s response was lost: this item may have been charged',
		description: sentences(
			cause === null
				? (onRecord ?? 'The request was sent in an earlier attempt of this step')
				: cause.message,
			cause !== null && onRecord,
			adviceFor(choice, row),
		),
		code: 'uncertain_charge',
		status: cause?.status,
		charge: 'unknown',
	});
}

/** Describes the row of an open order. */
function inRow({ id, key, execution_id: execution }: Row): string {
	return `Execution ${execution} sent key "${key}" (row ${id} of the data table ${TABLE_NAME}) and received no ID`;
}

/**
 * Adds advice about a row to an error that says that its generation or its file does not exist. Returns any other error as
 * it is.
 */
export function explainedByRow(error: unknown, row: Row): unknown {
	if (!(error instanceof GenerationError)) return error;
	if (error.code === 'generation_not_found') return unknownInRow(error, row);
	const isGone = error.code === 'download_failed' && [403, 404, 410].includes(error.status ?? 0);
	return isGone ? fileGoneInRow(error, row) : error;
}

/** Builds the error of a key whose generation the service does not know. Nothing is created again automatically. */
function unknownInRow(
	error: GenerationError,
	{ id, key, generation_id: generation }: Row,
): GenerationError {
	return error.with({
		title: `The service does not know generation ${generation}`,
		details: `It was created for the key "${key}" (row ${id} of the data table ${TABLE_NAME})`,
		description:
			'Choose the credential that created it, or run the step again later. If the service’s app does not show it either, delete that row and start a new execution: the item is then created and charged again. If the service returns the same generation, change the Idempotency Key.',
		generation: { id: generation },
		charge: 'none',
	});
}

/** Builds the error of a key whose output file no longer exists, with advice. */
function fileGoneInRow(error: GenerationError, { id, key }: Row): GenerationError {
	return error.with({
		description: sentences(
			error.description,
			`If the file is gone for good, delete row ${id} of the data table ${TABLE_NAME} (key "${key}") and start a new execution: the item is then created and charged again. If the service returns the same generation, change the Idempotency Key`,
		),
	});
}

const WITHOUT_TABLE =
	'To run without the table, remove the Idempotency Key. Every execution is then charged for all its items.';

/**
 * Builds the error of an item with a key if the table cannot be used. Nothing was sent for the item.
 *
 * @param why the cause, and how to fix it
 * @param advice what to do; by default, how to run without the table. That may charge the item twice if a request for
 * its key was sent.
 */
export function recordUnavailable(
	why: string,
	advice = WITHOUT_TABLE,
	title = 'The data table for idempotency keys is unavailable',
): GenerationError {
	return new GenerationError({
		title,
		details: why,
		description: advice,
		code: 'record_unavailable',
	});
}

/** Converts any error of the table into a `record_unavailable` error. A GenerationError stays as it is. */
export function unavailable(error: unknown): unknown {
	if (error instanceof GenerationError) return error;
	return recordUnavailable(error instanceof Error ? error.message : String(error));
}

/**
 * Builds the error of a table that does not keep its changes.
 *
 * @param id of the row; `undefined` for rows that were inserted
 */
export function tableTrouble(id?: number): GenerationError {
	const symptom =
		id === undefined
			? 'Rows that were added to it are not there when it is read'
			: `Row ${id} cannot be changed`;
	return recordUnavailable(
		`Changes to the data table ${TABLE_NAME} are not saved. ${symptom}`,
		'Export it as CSV and rename it. Run the step once with Limit New Generations set to 0 to create a new table at no charge, and import the rows. Items without a row are charged again.',
		`The data table ${TABLE_NAME} could not be updated`,
	);
}

/** Builds the error of a key whose request another execution has not finished in time. */
export function stillSending({ key, execution_id: execution }: Row): GenerationError {
	return recordUnavailable(
		`It is execution ${execution}, with the key "${key}"`,
		'That execution may still be charged for it. Wait until it ends, then run the step again. Keep the Idempotency Key: without it, the item could be charged twice.',
		'Another execution is still sending this item',
	);
}
