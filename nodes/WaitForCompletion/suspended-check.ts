import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isConfirmed } from '../../client/outcome';
import type { StatusCheck, StatusChecks } from '../../client/watch/status-requests';
import { NOTHING_KNOWN } from '../../client/api/generation';
import { GenerationError, isOutage, type KnownGeneration } from '../../client/api/errors';
import { isFinalState } from '../../client/api/states';
import { wallClock } from '../shared/http/clock';
import { cancelSignal, isWithinSleep } from '../shared/execution';
import { errorItem, failureOf } from '../shared/output/results';
import { runNode } from '../shared/run-node';
import { n8nStartedWithoutTable } from '../shared/suspend/crash-recovery';
import { modeOfFirst, planWait } from './request';
import { deadlineOf, lastDeadline, type SleepingItem } from './sleeping-workflow';
import { sleepMs } from './suspend-schedule';

type Checks = Record<string, StatusCheck>;

/** True if the node is a check of a suspended wait. */
export function isSuspendedCheck(context: IExecuteFunctions): boolean {
	return modeOfFirst(context) === 'check' && isWithinSleep(context);
}

/** The status checks of a suspended wait so far; `undefined` outside of one. */
export function checksSoFar(context: IExecuteFunctions): StatusChecks | undefined {
	return isWithinSleep(context) ? new Map(Object.entries(keptBy(context).checks ?? {})) : undefined;
}

/**
 * Runs one check of a suspended wait. If a generation is unfinished and has time left, the execution sleeps.
 * After the sleep n8n does not run this node again: it passes the node's input to the next check. The first
 * check only sleeps, because the step has just checked.
 *
 * If the wait is interrupted, n8n returns this node's output as the result of the wait. That happens if the
 * execution is stopped, or is killed and n8n lost its log. Every item of the output is therefore marked as an
 * error.
 *
 * @returns the input with `ended` set if nothing is left to wait for; otherwise items that are not a result
 */
export async function suspendedCheck(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const input = context.getInputData();
	const items = input.map(({ json }) => json as SleepingItem);
	const kept = keptBy(context);
	if (kept.checks === undefined) {
		kept.checks = items[0].checks ?? {};
		return await sleep(context, items, kept.checks, items.map(rejection));
	}
	await n8nStartedWithoutTable(context);
	if (wallClock.now() >= lastDeadline(items)) return [ended(context)];
	const checks: StatusChecks = new Map(Object.entries(kept.checks));
	const [seen] = await runNode(context, (itemIndex) => [planWait(context, itemIndex)], { checks });
	kept.checks = Object.fromEntries(checks);
	if (cancelSignal(context).aborted) return [ended(context)];
	const now = wallClock.now();
	const failed = seen.map(failureOf);
	const unfinished = items.filter((item, itemIndex) => {
		const status = knownOf(item, kept.checks)?.status ?? null;
		return item.mode !== 'check' && mayChange(status, failed[itemIndex]) && now < deadlineOf(item);
	});
	return await sleep(context, items, kept.checks, failed, unfinished);
}

/**
 * State that all nodes of the helper workflow share. It is stored with the execution: after a sleep, a check
 * passes on its input, without its findings.
 */
function keptBy(context: IExecuteFunctions): { checks?: Checks } {
	return context.getContext('flow') as { checks?: Checks };
}

/**
 * Suspends the execution until the next check. If no sleep fits, it ends the chain of checks.
 *
 * @param failed the errors of items, by index
 * @param unfinished the items to sleep for
 */
async function sleep(
	context: IExecuteFunctions,
	items: SleepingItem[],
	checks: Checks,
	failed: Array<GenerationError | undefined>,
	unfinished = items,
): Promise<INodeExecutionData[][]> {
	if (unfinished.length === 0) return [ended(context)];
	const [{ waitingSince }] = unfinished;
	const now = wallClock.now();
	const timeoutMs = lastDeadline(unfinished) - waitingSince;
	const pauseMs = sleepMs(now - waitingSince, timeoutMs, dueAt(unfinished, checks) - now);
	if (pauseMs === null) return [ended(context)];
	await context.putExecutionToWait(new Date(now + pauseMs));
	return [
		items.map((item, itemIndex) => {
			const known = knownOf(item, checks) ?? { id: idOf(item) };
			const error = failed[itemIndex] ?? noResult(known);
			return errorItem(context, error, itemIndex, NOTHING_KNOWN);
		}),
	];
}

/** When the poll interval allows the next check of all items, in milliseconds since the Unix epoch. */
function dueAt(items: SleepingItem[], checks: Checks): number {
	const last = Math.max(...items.map((item) => checks[idOf(item)]?.at ?? 0));
	// `planWait` reports a poll interval that is not a number.
	return last + 1000 * (Number(items[0].runOptions.pollInterval) || 0);
}

function idOf({ generationId }: SleepingItem): string {
	return String(generationId).trim();
}

/** The generation of an item, as last seen. */
function knownOf(item: SleepingItem, checks: Checks = {}): KnownGeneration | undefined {
	return checks[idOf(item)]?.known?.item;
}

/** The error that an item had before the sleep. */
function rejection({ rejected }: SleepingItem): GenerationError | undefined {
	return rejected && new GenerationError(rejected);
}

/** The output of the last check, which the collecting node reads. */
function ended(context: IExecuteFunctions): INodeExecutionData[] {
	return context.getInputData().map(({ json, binary }, item) => ({
		json: { ...json, ended: true },
		...(binary && { binary }),
		pairedItem: { item },
	}));
}

/** True if an item may still change. */
function mayChange(status: string | null, failure: GenerationError | undefined): boolean {
	if (failure) return isOutage(failure) || failure.code === 'timeout';
	return !isFinalState(status);
}

/**
 * The error of an item that is not a result. It has no `status`: a workflow would treat `completed` as a
 * result.
 */
function noResult(generation: KnownGeneration): GenerationError {
	const { id, status } = generation;
	const confirmed = isConfirmed(generation);
	const seen = confirmed ? `last status: ${status}` : 'not checked yet';
	return new GenerationError({
		title: `The wait for generation ${id} was interrupted (${seen})`,
		description:
			'n8n ended during a status check, or the helper execution was stopped. Fetch the generation by its ID with Wait for Completion in a new execution, at no charge.',
		code: 'wait_interrupted',
		charge: confirmed ? 'paid' : 'none',
		generation: { id },
	});
}
