import { looksLikeId } from '../../../client/api/error-table';
import { eachOnce, type GenerationError, type KnownGeneration } from '../../../client/api/errors';
import { isConfirmed, type Outcome } from '../../../client/jobs/outcome';
import { isBeyondLimit } from '../../../client/orders/spend-guard';
import { continuesOnError, runsAsTool } from '../execution';
import type { Step } from '../step';

/** How one output of an item ended. */
export type ItemEnd<T = unknown> = Outcome<T> & { itemIndex: number };

/**
 * True if an item gets no output item, because a spending limit kept the item from being sent, and On Error is Stop. A hint
 * in the editor tells the user. In a tool, this is false: an agent sees no hints, so the agent gets an error item.
 */
export function isLeftOut(step: Step, error: GenerationError): boolean {
	return isBeyondLimit(error) && !continuesOnError(step) && !runsAsTool(step);
}

/** The errors of the outcomes that have one. */
export function errorsOf(outcomes: Array<Outcome<unknown>>): GenerationError[] {
	return outcomes.flatMap((outcome) => (outcome.kind === 'error' ? [outcome.error] : []));
}

/** Returns every generation that the outcomes show as paid for and not refunded. */
export function paidGenerations(outcomes: Array<Outcome<unknown>>): KnownGeneration[] {
	return eachOnce(outcomes.filter(isPaid).flatMap(generationOf));
}

/** Returns the generation ids that a user entered and that no status check has confirmed: they may be mistyped. */
export function uncheckedIds(outcomes: Array<Outcome<unknown>>): string[] {
	const known = eachOnce(outcomes.filter((each) => !isPaid(each)).flatMap(generationOf));
	return known.filter((each) => !isConfirmed(each) && looksLikeId(each.id)).map(({ id }) => id);
}

function generationOf(outcome: Outcome<unknown>): KnownGeneration[] {
	const { generation } = outcome.kind === 'error' ? outcome.error : outcome;
	return generation === null ? [] : [generation];
}

function isPaid(outcome: Outcome<unknown>): boolean {
	if (outcome.kind === 'error') return outcome.error.charge === 'paid';
	const { generation } = outcome;
	return generation !== null && isConfirmed(generation) && generation.status !== 'failed';
}

/** Returns the indexes of items that may have been charged: their creating requests got no conclusive response. */
export function uncertainItems(outcomes: ItemEnd[]): number[] {
	return outcomes.flatMap((outcome) =>
		outcome.kind === 'error' && outcome.error.charge === 'unknown' ? [outcome.itemIndex] : [],
	);
}
