import type { IExecuteFunctions } from 'n8n-workflow';

import { sentences, type GenerationError } from '../../../client/wire/errors';
import {
	isConfirmed,
	paidGenerations,
	uncertainItems,
	uncheckedIds,
	type Outcome,
} from '../../../client/jobs/outcome';
import { TABLE_NAME } from '../../../client/orders/table';
import type { TableJournal } from '../../../client/orders/table-journal';
import type { PipelineStats } from '../../../client/pipeline';
import { asHtml, counted } from './wording';

/** Log messages and editor hints of a step. */

/**
 * Logs the ids of charged generations after a stop or an error. n8n may drop the output of a stopped step, and
 * a failed execution may not be saved.
 *
 * @param what what happened to the step, for the log
 */
export function reportEnd(
	context: IExecuteFunctions,
	what: string,
	outcomes: Array<Outcome<unknown>>,
): void {
	const paid = paidGenerations(outcomes).map(({ id }) => id);
	const open = uncertainItems(outcomes);
	const unchecked = uncheckedIds(outcomes);
	if (paid.length + open.length + unchecked.length === 0) return;
	context.logger.warn(
		sentences(
			`${what} while "${context.getNode().name}" was running`,
			paid.length > 0 &&
				`${counted(paid.length, 'generation is', 'generations are')} already paid for; Wait for Completion fetches ${paid.length === 1 ? 'it' : 'them'} without paying: ${paid.join(', ')}`,
			open.length > 0 && `It is not known whether these items were charged: ${open.join(', ')}`,
			unchecked.length > 0 && `Not checked: ${unchecked.join(', ')}`,
		),
		{ generations: paid },
	);
}

/** Logs unexpected errors with their stack trace. n8n itself logs only the kind of an error. */
export function reportUnexpected(
	context: IExecuteFunctions,
	errors: Array<GenerationError | null>,
): void {
	for (const error of errors) {
		if (error?.code !== 'unexpected_error') continue;
		const { message, cause } = error;
		const trace = cause instanceof Error ? cause.stack : undefined;
		context.logger.error(`"${context.getNode().name}" met what it did not expect: ${message}`, {
			trace,
		});
	}
}

/**
 * Shows one hint after a run with failures, retries or reused generations. It says what is ready, what is
 * missing, and why.
 *
 * @param outcomes of all items, in order
 */
export function summaryHint(
	context: IExecuteFunctions,
	stats: PipelineStats,
	outcomes: Array<Outcome<unknown>>,
): void {
	const missing = missingFrom(outcomes);
	const course = courseOf(stats);
	if (missing.length + course.length === 0) return;
	const ready = outcomes.filter(isThere).length;
	hint(context, sentences(`${ready} of ${outcomes.length} ready`, ...missing, ...course));
}

/** True if the item finished as requested. */
function isThere(outcome: Outcome<unknown>): boolean {
	return outcome.kind === 'done' && !outcome.generation.timed_out;
}

/** One sentence for each reason why items are missing, in the order of the items. */
function missingFrom(outcomes: Array<Outcome<unknown>>): string[] {
	const groups = new Map<string, Array<Outcome<unknown>>>();
	for (const outcome of outcomes.filter((each) => !isThere(each))) {
		const reason = reasonOf(outcome);
		groups.set(reason, [...(groups.get(reason) ?? []), outcome]);
	}
	return [...groups.values()].map(sentenceOf);
}

/** The group that an outcome is counted in. */
function reasonOf(outcome: Outcome<unknown>): string {
	if (outcome.kind === 'stopped') return outcome.kind;
	if (outcome.kind === 'done') return isConfirmed(outcome.generation) ? outcome.kind : 'unchecked';
	const { charge, code } = outcome.error;
	return charge === 'refunded' || charge === 'unknown' ? charge : `${charge}: ${code}`;
}

function sentenceOf(group: Array<Outcome<unknown>>): string {
	const errors = group.flatMap((outcome) => (outcome.kind === 'error' ? [outcome.error] : []));
	const was = counted(group.length, 'was', 'were');
	const one = group.length === 1;
	if (errors.length === 0) {
		if (group[0].kind === 'stopped') return `${was} stopped`;
		return uncheckedIds(group).length > 0
			? `${was} not checked in time and handed on by ID`
			: `${was} not ready in time and handed on unfinished: paid for, and Wait for Completion fetches ${one ? 'it' : 'them'} later`;
	}
	switch (errors[0].charge) {
		case 'refunded':
			return `${group.length} failed and ${one ? 'was' : 'were'} refunded`;
		case 'unknown':
			return one
				? '1 got no answer: it is not known whether it was charged. See the item’s error before running it again'
				: `${group.length} got no answer: it is not known whether they were charged. See the items’ errors before running them again`;
		case 'paid':
			return `${counted(group.length, 'is', 'are')} paid for, but not there: ${causeOf(errors)}. Wait for Completion fetches ${one ? 'it' : 'them'} by id`;
		case 'none':
			return errors.some(({ unsent }) => unsent)
				? `${was} not made and cost nothing: ${causeOf(errors)}`
				: `${group.length} failed and cost nothing: ${causeOf(errors)}`;
	}
}

/**
 * The message of the first item that failed by itself. Items that were skipped because of another error come
 * last.
 */
function causeOf(errors: GenerationError[]): string {
	const own = errors.filter(({ unsent }) => !unsent);
	const [first = errors[0]] = own;
	const others = own.some(({ message }) => message !== first.message);
	return others ? `${first.message}, and others` : first.message;
}

/** Reused generations, resubmitted requests, retries, and time spent waiting for slots. */
function courseOf(stats: PipelineStats): string[] {
	const { takenUp, retries, resubmitted, slotWaitMs, slotRefusal } = stats;
	const waitedSeconds = Math.round(slotWaitMs / 1000);
	return [
		takenUp > 0 &&
			`${takenUp} already existed and ${takenUp === 1 ? 'was' : 'were'} taken up, without paying again`,
		resubmitted > 0 &&
			`${counted(resubmitted, 'request was', 'requests were')} followed by another after a lost answer: up to ${resubmitted} may have been paid for besides`,
		retries > 0 && `${counted(retries, 'request was', 'requests were')} tried again`,
		waitedSeconds > 0 && `The step waited ${waitedSeconds} s for free slots`,
		waitedSeconds > 0 && slotRefusal !== null && `The service says: ${slotRefusal}`,
	].filter((part) => part !== false);
}

/**
 * Shows a hint about idempotency keys after a run.
 *
 * @param changed items that reused the generation of their key although the request differs
 * @param unkeyed items with an empty key
 */
export function recordHint(
	context: IExecuteFunctions,
	record: TableJournal | null,
	changed: number[],
	unkeyed: number[],
): void {
	const unrecorded = [...(record?.unrecorded ?? [])];
	const message = sentences(
		changed.length > 0 &&
			`What ${itemsOf(changed)} asked for is not what was made for the same idempotency key, earlier or for another item: the key alone decides, so the generation that exists was handed on. Give each order a key of its own to have it made`,
		unkeyed.length > 0 &&
			`The idempotency key of ${itemsOf(unkeyed)} is empty: what is made for them is paid for at every run`,
		unrecorded.length > 0 &&
			`The data table ${TABLE_NAME} could not be written to after the request, so that another execution may not know these keys: ${unrecorded.join(', ')}. This execution does`,
	);
	if (message !== '') hint(context, message);
}

function itemsOf(indexes: number[]): string {
	return `${indexes.length === 1 ? 'item' : 'items'} ${indexes.join(', ')}`;
}

/**
 * Shows the balance before a batch. The service publishes no prices (spec 2.2), so the cost is not estimated.
 *
 * @param balance remaining credits, if the service returned them
 */
export function creditsHint(context: IExecuteFunctions, balance: unknown): void {
	const items = context.getInputData().length;
	if (items < 2 || typeof balance !== 'number') return;
	hint(
		context,
		`${counted(balance, 'credit is', 'credits are')} left, and ${items} items came in. What their generations cost is not known before they are made: the service states no prices in advance.`,
	);
}

/** Shows a hint in the editor's output panel. Older n8n releases have no hints and ignore it. */
export function hint(context: IExecuteFunctions, message: string): void {
	context.addExecutionHints?.({ message: asHtml(message), location: 'outputPane', type: 'info' });
}
