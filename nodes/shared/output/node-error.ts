import { NodeApiError, type JsonObject } from 'n8n-workflow';

import type { GenerationError, KnownGeneration } from '../../../client/api/errors';
import type { Journal } from '../../../client/orders/journal';
import { sentences } from '../../../client/text';
import { runsAsTool } from '../execution';
import type { Caller, Step } from '../step';
import { errorsOf, paidGenerations, uncertainItems, uncheckedIds, type ItemEnd } from './outcomes';
import {
	asHtml,
	chargedSoFar,
	counted,
	explained,
	firstMessage,
	itemsOf,
	withoutTags,
} from './wording';

/** Advice after a step has failed. A retry finds charged generations by their ids, which n8n stores with the execution. */
const HOW_TO_GO_ON = {
	tool: 'Another call of this tool is charged again, unless it has an Idempotency Key. Get the existing generation by its ID, with the tool that waits for completion',
	one: 'Use Retry on the latest execution, or Retry On Fail: charged generations are reused. Without an Idempotency Key, a new execution or a retry of an older one is charged again',
	// The advice begins with On Error = Continue, because with Stop, a retry could fail again at the same item.
	several:
		'To get the other outputs: 1. In the tab Settings of the node, set On Error to Continue (n8n 2.41 saves by itself). 2. Use “Retry with currently saved workflow” on the latest execution, with the same items. Charged generations are reused. To change an item, start a new execution: items without an Idempotency Key are charged again',
};

/**
 * The error of a step that stops. It describes the failed item, the cause and the other items, and names each generation
 * that was charged in any attempt (from `journal`). `failed` is the position of the failed outcome in `outcomes`.
 */
export function stepError(
	step: Step,
	error: GenerationError,
	failed: number,
	outcomes: ItemEnd[],
	journal?: Journal,
): NodeApiError {
	const seen = paidGenerations(outcomes);
	const refunded = [error, ...errorsOf(outcomes)].flatMap(({ charge, generation }) =>
		charge === 'refunded' && generation ? [generation.id] : [],
	);
	const recorded = (journal?.paid() ?? []).filter(({ id }) => !refunded.includes(id));
	const paid = [...seen, ...recorded.filter(({ id }) => !seen.some((known) => known.id === id))];
	const others = outcomes.filter((_, position) => position !== failed);
	const open = uncertainItems(others);
	const { itemIndex } = outcomes[failed];
	const isOneOfSeveral = step.items.length > 1;
	const hasOthers = isOneOfSeveral || others.length > 0;
	const isTool = runsAsTool(step);
	const { generation } = error;
	const unchecked = uncheckedIds(outcomes).filter((id) => id !== generation?.id);
	const isNamed =
		generation === null || [...refunded, ...paid.map(({ id }) => id)].includes(generation.id);
	const description = sentences(
		isOneOfSeveral && `${itemsOf(step, [itemIndex])} failed`,
		explained(error),
		isTool &&
			error.charge === 'unknown' &&
			'Do not call this tool again for it, but tell the user: another call may be charged again',
		othersOf(step, others, itemIndex),
		paid.some(({ id }) => id !== error.generation?.id) && chargedSoFar(paid),
		recorded.length > 0 && HOW_TO_GO_ON[isTool ? 'tool' : hasOthers ? 'several' : 'one'],
		open.length > 0 && `${itemsOf(step, open)} may have been charged`,
		unchecked.length > 0 && `Not checked: ${unchecked.join(', ')}`,
		codeOf(error),
		error.charge === 'refunded' && error.generation && `Refunded: ${error.generation.id}`,
		!isNamed && !error.message.includes(generation.id) && `Generation: ${named(generation)}`,
		paid.length > 0 && `Charged: ${paid.map(named).join(', ')}`,
	);
	return nodeError(step, error, itemIndex, description, {
		code: error.code,
		generations: paid.map(({ id, status }) => ({ id, status: status ?? null })),
	});
}

/** The description of an error of one item: what happened and what to do, the code, and the generation. */
function descriptionOf(error: GenerationError): string {
	const { generation } = error;
	return sentences(
		explained(error),
		codeOf(error),
		generation && !error.message.includes(generation.id) && `Generation: ${named(generation)}`,
	);
}

/**
 * Builds the n8n error for one item: title, description, HTTP status, code and item index. It never contains
 * the request, because the request holds the API key.
 */
export function nodeError(
	step: Omit<Caller, 'signal'> & Partial<Pick<Step, 'items'>>,
	error: GenerationError,
	itemIndex: number,
	description = descriptionOf(error),
	details: Record<string, unknown> = { code: error.code },
): NodeApiError {
	// n8n shows the `message` of `response` in the error's details, as the full message.
	const response: JsonObject =
		error.serviceMessage === null ? {} : { message: error.serviceMessage };
	const shown = new NodeApiError(step.node, response, {
		message: error.message,
		description: asHtml(description),
		httpCode: error.status === null ? undefined : String(error.status),
	});
	// NodeApiError rewrites a message that contains a code such as ECONNREFUSED: set it again. Agents see only the message.
	shown.message = runsAsTool(step)
		? sentences(error.message, description)
		: withoutTags(error.message);
	Object.assign(shown.context, details);
	addItemIndex(shown, itemIndex, (step.items?.length ?? 1) > 1);
	return shown;
}

/**
 * Adds the item's index, counted from 0, for code that reads the error. With several items, the property is not enumerable,
 * so n8n does not store it. Otherwise, n8n's editor would show `[item 3]` where the description says item 4.
 */
export function addItemIndex(
	{ context }: NodeApiError,
	itemIndex: unknown,
	isOneOfSeveral: boolean,
): void {
	const configurable = { configurable: true, writable: true };
	const property = { ...configurable, value: itemIndex, enumerable: !isOneOfSeveral };
	Object.defineProperty(context, 'itemIndex', property);
}

function othersOf(step: Step, others: ItemEnd[], failed: number): string {
	const unsent = others.filter(wasNotSent).length;
	const failures = others.filter((each) => each.itemIndex !== failed && hasFailed(each));
	const items = failures.map(({ itemIndex }) => itemIndex);
	const errors = errorsOf(failures);
	const why = errors.length > 0 ? `: ${firstMessage(errors)}` : '';
	return sentences(
		failures.length > 0 && `${itemsOf(step, items)} failed, too${why}`,
		unsent > 0 && `${counted(unsent, 'item was', 'items were')} not sent`,
	);
}

function hasFailed(outcome: ItemEnd): boolean {
	if (outcome.kind === 'error') return !outcome.error.skipped;
	return outcome.kind === 'stopped' && outcome.generation?.status === 'failed';
}

function wasNotSent(outcome: ItemEnd): boolean {
	if (outcome.kind === 'stopped') return outcome.generation === null;
	return outcome.kind === 'error' && outcome.error.skipped;
}

function codeOf({ code, status }: GenerationError): string {
	return `Code: ${code}${status === null ? '' : `, HTTP ${status}`}`;
}

function named({ id, status }: KnownGeneration): string {
	return status ? `${id} (${status})` : id;
}
