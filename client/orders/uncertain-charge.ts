import { GenerationError } from '../api/errors';
import { sentences } from '../text';
import type { CreateJob } from '../job';
import type { Entry } from './journal';
import { TABLE_NAME, type Row } from './table';

/** Advice for the user, by the value of On Uncertain Charge. */
const ADVICE: Record<CreateJob['onUncertainCharge'], string> = {
	error:
		'To be safe it is not sent again by itself. Look in the service’s library or at the balance whether the generation exists: if so, fetch it with Wait for Completion; if not, set On Uncertain Charge to Resubmit, and retry with the workflow that has it (n8n’s “Retry with currently saved workflow”)',
	resubmit:
		'A retry sends it once more, as On Uncertain Charge asks. Look in the service’s library or at the balance first: what exists can be fetched with Wait for Completion',
};

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
				? `The answers to ${count} creating requests were lost: up to ${count} may have been charged`
				: 'The answer to a creating request was lost: it may have been charged',
		description: sentences(
			cause === null ? (onRecord ?? 'It was sent in an earlier try of this step') : cause.message,
			cause !== null && onRecord,
			ADVICE[choice],
		),
		code: 'uncertain_charge',
		status: cause?.status,
		charge: 'unknown',
	});
}

/** Describes the row of an open order, and how the user can resolve it. */
function inRow({ id, key, execution_id: execution }: Row): string {
	return `Row ${id} of the data table ${TABLE_NAME} says that execution ${execution} has sent it for the key "${key}", and no id came. Where the generation exists, its id in the column generation_id of that row makes every execution take it up; where it does not, delete that row and start a new execution`;
}

/** Builds the error of a key whose generation the service does not know. Nothing is created again automatically. */
export function unknownInRow(
	error: GenerationError,
	{ id, key, generation_id: generation }: Row,
): GenerationError {
	return error.with({
		title: `Generation ${generation} does not exist`,
		details: `Row ${id} of the data table ${TABLE_NAME} says that it was made for the key "${key}"`,
		description: `Choose the credential with which it was made, or run it again in a while. Where the service’s library does not have it either, delete that row and start a new execution: the item is made and paid for anew.`,
		generation: { id: generation },
		charge: 'none',
	});
}

/** Builds the error of a key whose output file no longer exists, with advice. */
export function fileGoneInRow(error: GenerationError, { id, key }: Row): GenerationError {
	return error.with({
		description: sentences(
			error.description,
			`Where the file is gone for good, delete row ${id} of the data table ${TABLE_NAME} (key "${key}") and start a new execution: then the item is made and paid for anew`,
		),
	});
}
