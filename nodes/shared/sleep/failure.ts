import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { GenerationError } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { hasId, isLive } from '../../../client/orders/table';
import { sentences } from '../../../client/text';
import { addItemIndex, nodeError } from '../output/node-error';
import { rowsOfExecution } from '../record/data-table';
import { messageItem, type StepFailure, type NodeProfile } from './state';
import type { Step } from '../step';

/** The errors of steps that sleep, and how one helper execution passes the failure of the step to the next. */

/**
 * The item that carries the failure of the step to another helper execution, where `throwFailure` throws it as an error.
 *
 * @param advice tells the user how to go on
 * @throws `error` itself if it is not a NodeApiError: in that case, the helper execution has failed, and not the step
 */
export function failureItem(error: unknown, advice: string) {
	if (!(error instanceof NodeApiError)) throw error;
	const { message, description, httpCode, context } = error;
	const failure: StepFailure = {
		message,
		description: sentences(description, advice),
		httpCode,
		context: { ...context, itemIndex: context.itemIndex } as IDataObject,
	};
	return messageItem({ failure });
}

/** Throws the failure of the step as a NodeApiError. Does nothing if there is none. */
export function throwFailure(helper: Step, failure: StepFailure | undefined): void {
	if (!failure) return;
	const { message, description, httpCode } = failure;
	const fields = { message, httpCode: httpCode ?? undefined };
	const error = new NodeApiError(helper.node, {}, fields);
	error.message = message;
	error.description = description;
	Object.assign(error.context, failure.context);
	addItemIndex(error, failure.context.itemIndex, true);
	throw error;
}

/** What `endedEarly` needs to know of the node. */
export type Advice = Pick<NodeProfile, 'createsNothing' | 'howToGoOn'>;

/**
 * Builds the error of a step whose sleep ended early. The error tells the user how to go on.
 *
 * @param what the beginning of the error's title: says what happened
 * @param cause the end of the title: says why it happened
 */
export function endedEarly(
	{ createsNothing, howToGoOn }: Advice,
	what: string,
	details: string,
	{ first = '', cause = '' } = {},
): GenerationError {
	const charged = createsNothing ? '' : ', and items may have been charged';
	return new GenerationError({
		title: `${what}${charged}${cause}`,
		details,
		description: first === '' ? howToGoOn : `${first} ${howToGoOn}`,
		code: createsNothing ? 'wait_interrupted' : 'batch_interrupted',
		charge: createsNothing ? 'none' : 'unknown',
	});
}

/** The error of a node that has the parameter `batchRole`, although no step that sleeps has started the node. */
export function notAsleep(helper: Step, advice: Advice): NodeApiError {
	const details =
		'Another release of this package may have started it. If this node is in a workflow of your own, remove its parameter batchRole';
	return nodeError(helper, endedEarly(advice, 'The sleeping step was not found', details), 0);
}

/**
 * The error of a step whose state another release has stored, so that this release cannot read it. The error names every
 * generation, except failed ones, that the data table has for the step's execution.
 *
 * @param execution the id of the step's execution
 */
export async function otherVersion(
	helper: Step,
	execution: string,
	advice: Advice,
): Promise<NodeApiError> {
	const error = endedEarly(
		advice,
		'The package was updated while the step was asleep, so it ended',
		'This release cannot read what the other release stored',
		{ first: 'Update the package only while no step sleeps.' },
	);
	const read = await toResult(async () => await rowsOfExecution(helper, execution));
	const rows = read.ok ? read.value.filter((row) => isLive(row) && hasId(row)) : [];
	const ids = rows.map((row) => row.generation_id);
	const named = ids.length > 0 && `Generations of the batch: ${ids.join(', ')}`;
	return nodeError(helper, error.with({ description: sentences(error.description, named) }), 0);
}
