import { GenerationError } from '../api/errors';
import { ENDED_WITHOUT_OUTPUT } from '../jobs/outcome';
import { sentences } from '../text';
import type { CreateJob } from '../jobs/job';
import type { Row } from '../jobs/row';
import { TABLE_NAME } from './table';

const inTable = ({ id }: Row) => `row ${id} of the data table ${TABLE_NAME}`;

/** Returns advice for the user: what to do about an item whose creating request got no response. */
function adviceFor(choice: CreateJob['onUncertainCharge'], row?: Row): string {
	const enter = row && `enter its ID in the column generation_id of row ${row.id} of ${TABLE_NAME}`;
	if (choice === 'resubmit') {
		return `A retry sends it again, because If the Response Is Lost is Send Again. To avoid a double charge, first look for the generation in the service’s app. If it exists, ${enter ?? 'get it with Wait for Completion, at no charge'}`;
	}
	const steps = row
		? `2. If it exists, ${enter}. 3. If not, delete row ${row.id}. 4. Start a new execution`
		: '2. If it exists, get it with Wait for Completion, at no charge. 3. If not, set If the Response Is Lost to Send Again, save, and use “Retry with currently saved workflow”. All uncertain items of the step are sent again, so look for all of them first. 4. Set If the Response Is Lost back to Fail the Item. If the execution succeeded, it cannot be retried: run only this item in a new one';
	return `It was not sent again, to avoid a double charge. 1. Look for the generation in the service’s app. ${steps}`;
}

/** Creating requests that may have been charged and returned no id. `row`: the row of their idempotency key in the table. */
export interface Unresolved {
	count: number;
	row?: Row;
}

/**
 * Builds the error of an item whose creating request got no response.
 *
 * @param cause error of the item's last request; `null` if this attempt of the step sent no request for the item
 */
export function uncertainCharge(
	cause: GenerationError | null,
	{ count, row }: Unresolved = { count: 1 },
	choice: CreateJob['onUncertainCharge'] = 'error',
): GenerationError {
	const onRecord =
		row &&
		`Execution ${row.execution_id} sent the idempotency key "${row.key}" (${inTable(row)}) and received no ID`;
	return new GenerationError({
		title:
			count > 1
				? `The service’s responses to ${count} requests were lost: up to ${count} may have been charged`
				: 'The service’s response was lost: this item may have been charged',
		description: sentences(
			cause === null
				? (onRecord ?? 'The request was sent in an earlier attempt of this step')
				: cause.message,
			cause?.details,
			cause !== null && onRecord,
			adviceFor(choice, row),
		),
		code: 'uncertain_charge',
		status: cause?.status,
		charge: 'unknown',
	});
}

const CREATE_AGAIN =
	'To create it again, delete that row and start a new execution, which charges the item again. If the service returns the same generation, change the Idempotency Key';

/** If an error says that a row's generation, output or file does not exist, adds advice. Other errors stay unchanged. */
export function explainedByRow(error: unknown, row: Row): unknown {
	if (!(error instanceof GenerationError)) return error;
	const { code, description, status } = error;
	const { key, generation_id: id } = row;
	const origin = `It was created for the idempotency key "${key}" (${inTable(row)})`;
	if (code === 'generation_not_found') {
		return error.with({
			title: `The service does not know generation ${id}`,
			details: origin,
			description: sentences(
				'Choose the credential that created it, or run the step again later',
				CREATE_AGAIN,
			),
			generation: { id },
			charge: 'none',
		});
	}
	const isFileGone = code === 'download_failed' && [403, 404, 410].includes(status ?? 0);
	if (!isFileGone && !ENDED_WITHOUT_OUTPUT.has(code)) return error;
	return error.with({ description: sentences(isFileGone && description, origin, CREATE_AGAIN) });
}

/**
 * Builds the error of an item with an idempotency key, if the data table cannot be used. The item was not sent.
 *
 * @param why the cause
 * @param advice what to do; by default, how to run without the table
 */
export function recordUnavailable(
	why: string,
	advice = 'To run without the table, remove the Idempotency Key. Every execution is then charged for all its items.',
	title = 'The data table for idempotency keys is unavailable',
): GenerationError {
	return new GenerationError({
		title,
		details: why,
		description: advice,
		code: 'record_unavailable',
	});
}

/** Advice for an error of n8n's database. Such an error is usually temporary. */
const TRY_AGAIN =
	'n8n’s database may be locked, overloaded or restarting. Run the same items again: existing generations are reused at no charge.';

/** Converts any error of the table into a `record_unavailable` error. A GenerationError stays as it is. */
export function unavailable(error: unknown): unknown {
	if (error instanceof GenerationError) return error;
	return recordUnavailable(error instanceof Error ? error.message : String(error), TRY_AGAIN);
}

/** Advice for a data table that cannot be used: how to replace it without charging any item again. */
export const RENEW_TABLE =
	'Replace it at no charge, while nothing uses it: 1. Export the table as CSV. 2. Rename the table. 3. A minute later, run the step with Limit New Generations set to 0, which creates a new table. 4. Import the CSV into the new table. Items without a row are charged again';

/** Builds the error for a data table that does not save changes or inserted rows, although n8n reports no error. */
export function tableTrouble(): GenerationError {
	return recordUnavailable(
		`Changes to the data table ${TABLE_NAME} are not saved`,
		`${RENEW_TABLE}.`,
		`The data table ${TABLE_NAME} could not be updated`,
	);
}

/** Builds the error of an item that has waited too long for another execution, which is sending the same idempotency key. */
export function stillSending({ key, execution_id: execution }: Row): GenerationError {
	return recordUnavailable(
		`Execution ${execution} is sending the idempotency key "${key}"`,
		'That execution may still be charged for it. Wait until it ends, then run the step again. Keep the Idempotency Key: without it, the item could be charged twice.',
		'Another execution is still sending this item',
	);
}
