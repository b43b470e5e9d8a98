import { NodeApiError, type IExecuteFunctions, type JsonObject } from 'n8n-workflow';

import { failureCause } from '../../client/wire/error-table';
import { sentences, type GenerationError, type KnownGeneration } from '../../client/wire/errors';
import type { Ledger } from '../../client/paying/ledger';
import {
	paidGenerations,
	uncertainItems,
	uncheckedIds,
	type Outcome,
} from '../../client/jobs/outcome';
import { isWithinSleep, runsAsTool } from './execution';
import { asHtml, counted, explained, withoutTags } from './wording';

/** What a retry does with what is paid for: n8n keeps it with the execution. */
const TAKEN_UP =
	'Use Retry On Fail, or Retry on the newest execution: both take up what is paid for. A fresh execution, or a second retry of an older one, pays again unless the items have an Idempotency Key';

/**
 * The one error of a step that stops: the failed item, the cause, what became of the others, and at its end every
 * generation that is paid for.
 *
 * @param failed index of the item whose error it is
 * @param outcomes of all items, in their order; none where nothing was begun
 * @param ledger of what earlier tries have paid for
 */
export function stepError(
	context: IExecuteFunctions,
	error: GenerationError,
	failed: number,
	outcomes: Array<Outcome<unknown>>,
	ledger?: Ledger,
): NodeApiError {
	const seen = paidGenerations(outcomes);
	const refunded = error.charge === 'refunded' ? error.generation?.id : null;
	const recorded = (ledger?.paid() ?? []).filter(({ id }) => id !== refunded);
	const paid = [...seen, ...recorded.filter(({ id }) => !seen.some((known) => known.id === id))];
	const open = uncertainItems(outcomes).filter((itemIndex) => itemIndex !== failed);
	const { generation } = error;
	const unchecked = uncheckedIds(outcomes).filter((id) => id !== generation?.id);
	const isNamed =
		generation === null || [refunded, ...paid.map(({ id }) => id)].includes(generation.id);
	const description = sentences(
		explained(error),
		othersOf(outcomes, failed),
		paid.some(({ id }) => id !== error.generation?.id) &&
			`${counted(paid.length, 'generation is', 'generations are')} already paid for`,
		(recorded.length > 0 || isWithinSleep(context)) && howToGoOn(context),
		open.length > 0 && `It is not known whether these items were charged: ${open.join(', ')}`,
		unchecked.length > 0 && `Not checked: ${unchecked.join(', ')}`,
		codeOf(error),
		error.charge === 'refunded' && error.generation && `Refunded: ${error.generation.id}`,
		!isNamed && !error.message.includes(generation.id) && `Generation: ${named(generation)}`,
		paid.length > 0 && `Paid for: ${paid.map(named).join(', ')}`,
	);
	return nodeError(context, error, failed, description, {
		code: error.code,
		generations: paid.map(({ id, status }) => ({ id, status: status ?? null })),
	});
}

/** How to come by what a step that stops has paid for. */
function howToGoOn(context: IExecuteFunctions): string {
	if (runsAsTool(context)) {
		return 'Calling this tool again pays again, unless it has an Idempotency Key: get what is paid for by its ID, with the tool that waits for completion';
	}
	return isWithinSleep(context)
		? 'Wait for it again by its ID in a new execution, which pays nothing. Retry in the list of executions would only show this error again, without looking'
		: TAKEN_UP;
}

/** An error as n8n shows it: title, description, HTTP status, code and item. Never with the request, which holds the key. */
export function nodeError(
	context: Pick<IExecuteFunctions, 'getNode'>,
	error: GenerationError,
	itemIndex: number,
	description = sentences(
		explained(error),
		codeOf(error),
		error.generation &&
			!error.message.includes(error.generation.id) &&
			`Generation: ${named(error.generation)}`,
	),
	details: Record<string, unknown> = { code: error.code },
): NodeApiError {
	const cause = failureCause(error.code, error.status);
	// What n8n lists among the details as the full message.
	const response: JsonObject = error.said === null ? {} : { message: error.said };
	const shown = new NodeApiError(context.getNode(), response, {
		message: error.message,
		description: asHtml(description),
		httpCode: error.status === null ? undefined : String(error.status),
		itemIndex,
		// Releases of n8n that do not know it leave it out.
		...(cause && { failure: { cause } }),
	});
	// n8n replaces messages in which it finds the name of a system error, and tells agents the message only.
	shown.message = runsAsTool(context)
		? sentences(error.message, description)
		: withoutTags(error.message);
	shown.stack = withMessage(shown);
	if (error.cause instanceof Error) addCause(shown, error.cause);
	Object.assign(shown.context, details);
	return shown;
}

/**
 * Hands on what nobody expected as JavaScript itself keeps a cause: n8n logs its trace after the error. Nothing but that
 * goes along, for errors of requests hold those, and older releases of n8n keep all of a cause with the execution.
 */
function addCause(shown: NodeApiError, { name, message, stack }: Error): void {
	const value = Object.assign(new Error(message), { name, stack });
	Object.defineProperty(shown, 'cause', { value, configurable: true, writable: true });
}

/** n8n logs the stack, which was written before there was a message. */
function withMessage({ name, message, stack = '' }: Error): string {
	const frames = stack.indexOf('\n    at ');
	return `${name}: ${message}${frames < 0 ? '' : stack.slice(frames)}`;
}

/** What became of the other items of a step that has more than one. */
function othersOf(outcomes: Array<Outcome<unknown>>, failed: number): string | null {
	const others = outcomes.filter((_, itemIndex) => itemIndex !== failed);
	const unsent = others.filter(wasNotSent).length;
	const failures = others.filter((other) => other.kind === 'error' && !other.error.unsent).length;
	const parts = [
		failures > 0 && `${counted(failures, 'more item', 'more items')} failed`,
		unsent > 0 && `${counted(unsent, 'item was', 'items were')} not sent`,
	].filter(Boolean);
	return parts.length > 0 ? parts.join(', and ') : null;
}

function wasNotSent(outcome: Outcome<unknown>): boolean {
	if (outcome.kind === 'stopped') return outcome.generation === null;
	return outcome.kind === 'error' && outcome.error.unsent;
}

function codeOf({ code, status }: GenerationError): string {
	return `Code: ${code}${status === null ? '' : `, HTTP ${status}`}`;
}

function named({ id, status }: KnownGeneration): string {
	return status ? `${id} (${status})` : id;
}
