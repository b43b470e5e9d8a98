import { NodeApiError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { sentences } from '../../../client/text';
import { addItemIndex } from '../output/node-error';
import { messageItem, type StepFailure } from './state';

/** The failure of a step, on its way from one helper execution to the next. */

/**
 * The item that `throwFailure` reads.
 *
 * @param advice how to go on
 * @throws any error that is not that of the step
 */
export function failureItem(error: unknown, advice = '') {
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

/** @throws NodeApiError if there is a failure of the step */
export function throwFailure(context: IExecuteFunctions, failure: StepFailure | undefined): void {
	if (!failure) return;
	const { message, description, httpCode } = failure;
	const fields = { message, httpCode: httpCode ?? undefined };
	const error = new NodeApiError(context.getNode(), {}, fields);
	error.message = message;
	error.description = description;
	Object.assign(error.context, failure.context);
	addItemIndex(error, failure.context.itemIndex, true);
	throw error;
}
