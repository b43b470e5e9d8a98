import { eachOnce, type GenerationError, type KnownGeneration } from '../../../client/api/errors';
import { isConfirmed, type Outcome } from '../../../client/jobs/outcome';
import { isBeyondLimit } from '../../../client/orders/spend-guard';
import { continuesOnError, runsAsTool } from '../execution';
import type { Step } from '../step';

/** Facts about the outcomes of a step, for its texts and its output. */

type Outcomes = Array<Outcome<unknown>>;

/** Returns the index of the input item of an outcome. */
export function itemIndexAt(outcomes: Outcomes, position: number): number {
	return outcomes[position]?.itemIndex ?? position;
}

/**
 * True if a failed item has no output item: it is beyond Limit New Generations, and On Error is Stop. An agent sees no
 * hint, and so gets the error.
 */
export function isLeftOut(step: Step, error: GenerationError): boolean {
	return isBeyondLimit(error) && !continuesOnError(step) && !runsAsTool(step);
}

/** Returns every generation that the outcomes show as paid for and not refunded. */
export function paidGenerations(outcomes: Outcomes): KnownGeneration[] {
	return eachOnce(generationsOf(outcomes.filter(isPaid)));
}

function isPaid(outcome: Outcome<unknown>): boolean {
	if (outcome.kind === 'error') return outcome.error.charge === 'paid';
	const { generation } = outcome;
	return generation !== null && isConfirmed(generation) && generation.status !== 'failed';
}

function generationsOf(outcomes: Outcomes): KnownGeneration[] {
	return outcomes.flatMap((outcome) => {
		const { generation } = outcome.kind === 'error' ? outcome.error : outcome;
		return generation ?? [];
	});
}

/**
 * Returns the ids entered by the user that no status check of the step has confirmed. They may be typing mistakes.
 */
export function uncheckedIds(outcomes: Outcomes): string[] {
	const known = generationsOf(
		outcomes.filter((outcome) => {
			return outcome.kind !== 'error' || outcome.error.charge === 'none';
		}),
	);
	const confirmed = new Set(known.filter(isConfirmed).map(({ id }) => id));
	const ids = new Set(known.map(({ id }) => id));
	return [...ids].filter((id) => !confirmed.has(id));
}

/**
 * Returns the indexes of items with an unknown charge: the responses to their requests were lost.
 *
 * @param except position of an outcome that does not count
 */
export function uncertainItems(outcomes: Outcomes, except?: number): number[] {
	const found = outcomes.flatMap((outcome, position) =>
		outcome.kind === 'error' && outcome.error.charge === 'unknown' && position !== except
			? [itemIndexAt(outcomes, position)]
			: [],
	);
	return [...new Set(found)];
}
