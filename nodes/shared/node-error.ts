import { NodeApiError, type IExecuteFunctions, type JsonObject } from 'n8n-workflow';

import { sentences, type GenerationError } from '../../client/wire/errors';
import type { Ledger } from '../../client/paying/ledger';
import { paidGenerations, uncertainItems, type Outcome } from '../../client/jobs/outcome';
import { isWithinSleep, runsAsTool } from './execution';

/**
 * The one error of a step that stops: the failed item, the cause, and every generation that is paid for.
 *
 * @param failed index of the item whose error it is
 * @param outcomes of all items, in their order
 * @param ledger of what earlier tries have paid for
 */
export function stepError(
	context: IExecuteFunctions,
	error: GenerationError,
	failed: number,
	outcomes: Array<Outcome<unknown>>,
	ledger?: Ledger,
): NodeApiError {
	const others = Math.max(0, outcomes.filter(({ kind }) => kind === 'error').length - 1);
	const seen = paidGenerations(outcomes);
	const earlier = ledger?.paid().filter(({ id }) => !seen.some((known) => known.id === id)) ?? [];
	const paid = [...seen, ...earlier];
	const open = uncertainItems(outcomes).filter((itemIndex) => itemIndex !== failed);
	const description = sentences(
		error.description,
		others > 0 && `${others} more ${others === 1 ? 'item' : 'items'} failed`,
		paid.length > 0 &&
			`Already paid for: ${paid.map(({ id, status }) => (status ? `${id} (${status})` : id)).join(', ')}. ${howToGoOn(context)}`,
		open.length > 0 && `It is not known whether these items were charged: ${open.join(', ')}`,
		`Code: ${error.code}${error.status === null ? '' : `, HTTP ${error.status}`}`,
	);
	return nodeError(context, error, failed, description, {
		code: error.code,
		generations: paid.map(({ id, status }) => ({ id, status: status ?? null })),
	});
}

/** How to come by what a step that stops has paid for. */
function howToGoOn(context: IExecuteFunctions): string {
	return isWithinSleep(context)
		? 'Wait for these again by their IDs in a new execution, which pays nothing. Retry in the list of executions would only show this error again, without looking'
		: 'Retry On Fail, and Retry in the list of executions, take these up without paying again, unless parameters are changed; a new execution would pay anew';
}

/** An error as n8n shows it: title, description, HTTP status, code and item. Never with the request, which holds the key. */
export function nodeError(
	context: Pick<IExecuteFunctions, 'getNode'>,
	error: GenerationError,
	itemIndex: number,
	description = sentences(error.description, `Code: ${error.code}`),
	details: Record<string, unknown> = { code: error.code },
): NodeApiError {
	const response: JsonObject = { message: error.message };
	const shown = new NodeApiError(context.getNode(), response, {
		message: error.message,
		description,
		httpCode: error.status === null ? undefined : String(error.status),
		itemIndex,
	});
	// n8n replaces messages in which it finds the name of a system error, and tells agents the message only.
	shown.message = runsAsTool(context) ? sentences(error.message, description) : error.message;
	Object.assign(shown.context, details);
	return shown;
}
