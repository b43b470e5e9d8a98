import type { GenerationError } from '../../../client/api/errors';
import { ENDED_WITHOUT_OUTPUT, type Outcome } from '../../../client/jobs/outcome';
import { isBeyondLimit } from '../../../client/orders/spend-guard';
import { TABLE_NAME } from '../../../client/orders/table';
import type { PipelineStats } from '../../../client/step/pipeline';
import { amount, itemNames, sentences } from '../../../client/text';
import { errorsOf, paidGenerations, uncertainItems, uncheckedIds, type ItemEnd } from './outcomes';
import { asHtml, chargedSoFar, counted, firstMessage, itemsOf } from './wording';
import type { Step } from '../step';

/**
 * Logs the ids of charged generations after a stop or an error. The ids may be nowhere else: n8n may drop the output of a
 * stopped step, and may not save a failed execution.
 */
export function reportEnd(step: Step, what: string, outcomes: ItemEnd[]): void {
	const charged = paidGenerations(outcomes);
	const paid = charged.map(({ id }) => id);
	const open = uncertainItems(outcomes);
	const unchecked = uncheckedIds(outcomes);
	if (paid.length + open.length + unchecked.length === 0) return;
	step.n8n.logger.warn(
		sentences(
			`${what} while "${step.node.name}" was running`,
			paid.length > 0 &&
				`${chargedSoFar(charged)} Wait for Completion returns their outputs at no charge: ${paid.join(', ')}`,
			open.length > 0 && `${itemsOf(step, open)} may have been charged`,
			unchecked.length > 0 && `Not checked: ${unchecked.join(', ')}`,
		),
		{ generations: paid },
	);
}

/** Logs unexpected errors with their stack traces. Otherwise, n8n's log would lack an error that becomes an output item. */
export function reportUnexpected(step: Step, errors: Array<GenerationError | null>): void {
	for (const error of errors) {
		if (error?.code !== 'unexpected_error') continue;
		const { message, cause } = error;
		const trace = cause instanceof Error ? cause.stack : undefined;
		step.n8n.logger.error(`"${step.node.name}" failed with an unexpected error: ${message}`, {
			trace,
		});
	}
}

/**
 * Shows one hint after a run: what is ready, what is missing and why, what was reused, retried or waited for, and the
 * balance. Shows none if all is ready and there is nothing else to say.
 */
export function summaryHint(step: Step, stats: PipelineStats, outcomes: ItemEnd[]): void {
	const isFree = outcomes.every((each) => each.kind === 'error' && each.error.charge === 'none');
	const missing = missingFrom(step, outcomes, isFree ? '' : ' at no charge');
	const leftOut = leftOutOf(outcomes);
	const other = [...leftOut, ...progressOf(stats)];
	if (missing.length + other.length === 0) return;
	const there = outcomes.filter(isThere);
	const what = `${amount(there.length)} of ${amount(outcomes.length)} ${there.every(isReady) ? 'ready' : 'returned'}`;
	const message = sentences(what, isFree && 'Nothing was charged', ...missing, ...other);
	const asAsked = missing.length + leftOut.length + stats.fellBack + stats.resubmitted === 0;
	hint(step, message, asAsked ? 'info' : 'warning');
}

function isThere(outcome: Outcome<unknown>): boolean {
	return outcome.kind === 'done' && !outcome.generation.timed_out;
}

/** True for a completed generation. A step that does not wait also returns generations that are not completed. */
function isReady(outcome: Outcome<unknown>): boolean {
	return outcome.kind === 'done' && outcome.generation.status === 'completed';
}

/**
 * Returns one sentence for each reason why items are missing, in the order of the items.
 *
 * @param free what a sentence says of items that were not charged: ` at no charge`, or nothing
 */
function missingFrom(step: Step, outcomes: ItemEnd[], free: string): string[] {
	const missing = outcomes.filter((each) => !isThere(each));
	const reasons = [...new Set(missing.map(reasonOf))];
	const groupOf = (reason: string) => missing.filter((each) => reasonOf(each) === reason);
	return reasons.map((reason) => sentenceOf(step, groupOf(reason), free));
}

function reasonOf(outcome: Outcome<unknown>): string {
	if (outcome.kind !== 'error') return outcome.kind;
	const { charge, code } = outcome.error;
	return charge === 'refunded' || charge === 'unknown' ? charge : `${charge}: ${code}`;
}

function sentenceOf(step: Step, group: ItemEnd[], free: string): string {
	const [first] = group;
	const say = (one: string, many: string) => counted(group.length, one, many);
	const was = say('was', 'were');
	if (first.kind === 'stopped') return `${was} stopped`;
	if (first.kind === 'done') {
		return `${was} not ready in time and returned unfinished. Wait for Completion returns the output later`;
	}
	const errors = errorsOf(group);
	const { charge, code, description } = first.error;
	const isUnsent = errors.every(({ skipped }) => skipped);
	const { length } = step.items;
	const items = group.map(({ itemIndex }) => itemIndex);
	const which = isUnsent || length === 1 ? '' : ` (${itemNames(items, length)})`;
	const why = `${which}: ${firstMessage(errors)}`;
	switch (charge) {
		case 'refunded':
			return say('failed and was refunded', 'failed and were refunded') + why;
		case 'unknown':
			return `${amount(group.length)} got no response and may have been charged${which}. Read the error before you run the items again`;
		case 'paid':
			return sentences(
				`${say('was charged, but has', 'were charged, but have')} no output${why}`,
				// A generation that ended without an output has none later either, so this advice would be useless.
				!ENDED_WITHOUT_OUTPUT.has(code) && 'Wait for Completion returns it by ID at no charge',
			);
		case 'none':
			return sentences(
				(isUnsent ? `${was} not sent` : `${amount(group.length)} failed`) + free + why,
				isBeyondLimit(first.error) && description,
			);
	}
}

/** A step returns only the first output of a generation. Returns a sentence about the other outputs, if there are any. */
function leftOutOf(outcomes: Array<Outcome<unknown>>): string[] {
	const counts = outcomes.map((each) => (each.kind === 'done' ? (each.leftOut ?? 0) : 0));
	const all = counts.reduce((sum, count) => sum + count, 0);
	if (all === 0) return [];
	const what = counted(all, 'more output was', 'more outputs were');
	return [`${what} left out: only the first output of a generation is returned`];
}

/**
 * Returns sentences about reused and recreated generations, fallback models, repeated requests, waiting for slots, and the
 * balance. Other work on the account changes the balance, too, so the number of spent credits is approximate.
 */
function progressOf(stats: PipelineStats): string[] {
	const { reused, retries, resubmitted, recreated, fellBack, slotWaitMs, slotRefusal, balance } =
		stats;
	const spent = balance === null ? 0 : balance.before - balance.after;
	const waitedSeconds = Math.round(slotWaitMs / 1000);
	return [
		reused > 0 && `${amount(reused)} reused, no charge`,
		resubmitted > 0 &&
			`${counted(resubmitted, 'request was', 'requests were')} sent again after a lost response, and may have been charged again`,
		recreated > 0 &&
			`${counted(recreated, 'failed generation was', 'failed generations were')} refunded and created again`,
		fellBack > 0 && `${counted(fellBack, 'output is', 'outputs are')} from a fallback model`,
		retries > 0 && `${counted(retries, 'request was', 'requests were')} retried`,
		waitedSeconds > 0 && `The step waited ${amount(waitedSeconds)} s for free slots`,
		waitedSeconds > 0 && slotRefusal !== null && `The service says: ${slotRefusal}`,
		spent > 0 && `About ${counted(spent, 'credit', 'credits')} spent`,
		balance !== null &&
			`Balance: ${amount(balance.before)} → ${amount(balance.after)}, including other work on this account`,
	].filter((part) => part !== false);
}

/**
 * Shows a hint about three cases. `unrecorded`: idempotency keys whose rows could not be written. `changed`: items that
 * reused a generation with a different request. `unkeyed`: items without an idempotency key, if other items have one.
 */
export function recordHint(
	step: Step,
	unrecorded: string[],
	changed: number[],
	unkeyed: number[],
): void {
	const message = sentences(
		unkeyed.length > 0 &&
			`${itemsOf(step, unkeyed)} without an Idempotency Key: every run is charged again`,
		changed.length > 0 &&
			`${itemsOf(step, changed)} returned the existing output of the idempotency key, although the prompt or a setting is different. For a new output of an item, change its key, or add the option New Output If the Request Changes. Adding it creates every item once more, and from then on only what has changed`,
		unrecorded.length > 0 &&
			`The data table ${TABLE_NAME} could not be updated after the request. Another execution may not find these idempotency keys, and may be charged again: ${unrecorded.join(', ')}`,
	);
	if (message !== '') hint(step, message, 'warning');
}

/**
 * Shows a hint in the editor's output panel. Does nothing in older n8n releases, which have no hints. `type`: `warning` if
 * an item failed, or if the result differs from the request.
 */
export function hint(step: Step, message: string, type: 'info' | 'warning'): void {
	step.n8n.addExecutionHints?.({ message: asHtml(message), location: 'outputPane', type });
}
