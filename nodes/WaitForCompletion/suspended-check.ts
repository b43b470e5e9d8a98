import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isConfirmed } from '../../client/jobs/outcome';
import {
	restoredChecks,
	savedChecks,
	type LastLooks,
	type StatusCheck,
} from '../../client/watching/looks';
import { GenerationError, isForeign, type KnownGeneration } from '../../client/wire/errors';
import { wallClock } from '../shared/clock';
import { cancelSignal, isWithinSleep } from '../shared/execution';
import { errorItem, failureOf } from '../shared/results';
import { runStep } from '../shared/step';
import { modeOfFirst, planWait } from './request';
import { deadlineOf, lastDeadline, type SleepingItem } from './sleeping-workflow';
import { napMs } from './suspend-schedule';

type Checks = Record<string, StatusCheck>;

/** Whether the node is a check of a suspended wait. */
export function isSuspendedCheck(context: IExecuteFunctions): boolean {
	return modeOfFirst(context) === 'check' && isWithinSleep(context);
}

/** The status checks of a suspended wait so far; none for a node that is not within one. */
export function checksSoFar(context: IExecuteFunctions): LastLooks | undefined {
	return isWithinSleep(context) ? restoredChecks(keptBy(context).checks ?? {}) : undefined;
}

/**
 * One check of a suspended wait: where anything is unfinished and has time left it puts the execution to sleep. n8n does
 * not run the node again when that wakes but hands its input on, to the next check. The first one only sleeps: the step
 * has just checked by itself.
 *
 * What it puts out before the sleep is what n8n hands on as the outcome of the wait where that is broken off (its
 * execution is stopped, or killed and n8n has lost its log of it): so every item of it says that it is none.
 */
export async function suspendedCheck(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const input = context.getInputData();
	const items = input.map(({ json }) => json as SleepingItem);
	if (items[0].ended) return [input];
	const kept = keptBy(context);
	if (kept.checks === undefined) {
		kept.checks = items[0].checks ?? {};
		return await sleep(context, items, kept.checks, items.map(itemBefore));
	}
	if (wallClock.now() >= lastDeadline(items)) return [ended(items)];
	const looks = restoredChecks(kept.checks);
	const [seen] = await runStep(context, (itemIndex) => planWait(context, itemIndex), { looks });
	kept.checks = savedChecks(looks);
	if (cancelSignal(context).aborted) return [ended(items)];
	const now = wallClock.now();
	const unfinished = items.filter((item, itemIndex) => {
		return isUnfinished(seen[itemIndex]) && now < deadlineOf(item);
	});
	return await sleep(context, items, kept.checks, seen, unfinished);
}

/**
 * What all nodes of the helper workflow know. A check hands on its input after the sleep, so that what it has learned has
 * to be kept elsewhere: with the execution.
 */
function keptBy(context: IExecuteFunctions): { checks?: Checks } {
	return context.getContext('flow') as { checks?: Checks };
}

/**
 * Puts the execution to sleep until the next check, or ends the line of checks where no sleep is short enough.
 *
 * @param seen all items, as they were last seen
 * @param unfinished what it sleeps for
 */
async function sleep(
	context: IExecuteFunctions,
	items: SleepingItem[],
	checks: Checks,
	seen: INodeExecutionData[],
	unfinished = items,
): Promise<INodeExecutionData[][]> {
	if (unfinished.length === 0) return [ended(items)];
	const [{ waitingSince }] = unfinished;
	const now = wallClock.now();
	const timeoutMs = lastDeadline(unfinished) - waitingSince;
	const nap = napMs(now - waitingSince, timeoutMs, dueAt(unfinished, checks) - now);
	if (nap === null) return [ended(items)];
	await context.putExecutionToWait(new Date(now + nap));
	return [
		seen.map((item, itemIndex) => {
			if (item.json.error) return item;
			const known = checks[idOf(items[itemIndex])]?.known?.item;
			return errorItem(context, noResult(known ?? { id: String(item.json.id) }), itemIndex);
		}),
	];
}

/** When the poll interval allows to check all of them, in milliseconds since the Unix epoch. */
function dueAt(items: SleepingItem[], checks: Checks): number {
	const last = Math.max(...items.map((item) => checks[idOf(item)]?.at ?? 0));
	// `planWait` reports a poll interval that is no number.
	return last + 1000 * (Number(items[0].options.pollInterval) || 0);
}

function idOf({ generationId }: SleepingItem): string {
	return String(generationId).trim();
}

/** An item before the first check of the helper workflow. */
function itemBefore({ generationId: id, error, error_code }: SleepingItem): INodeExecutionData {
	return { json: { id, ...(error && { error, error_code }) } as IDataObject };
}

/** What the line of checks hands on to the collecting. */
function ended(items: SleepingItem[]): INodeExecutionData[] {
	return items.map((json, item) => ({ json: { ...json, ended: true }, pairedItem: { item } }));
}

/**
 * Whether there is anything to sleep for. A service that is in trouble during a check will be asked again after the sleep,
 * and so will be what stands before it, whose answer is not the service's own.
 */
function isUnfinished(item: INodeExecutionData): boolean {
	const failure = failureOf(item);
	if (failure) {
		const passes = failure.retry !== 'never' || failure.code === 'timeout';
		return passes || isForeign(failure);
	}
	return item.json.status !== 'completed' && item.json.status !== 'failed';
}

/** Without its status: a workflow that reads the status would take one that is completed for a result. */
function noResult(generation: KnownGeneration): GenerationError {
	const { id, status } = generation;
	const confirmed = isConfirmed(generation);
	const seen = confirmed ? `was ${status}` : 'had not been checked';
	return new GenerationError({
		title: `This is no result: generation ${id} ${seen} when the wait fell asleep`,
		description:
			'Where the wait has handed this on, it was broken off: n8n ended during a status check, or the execution in which it slept was stopped. Fetch the generation by its ID with Wait for Completion in a new execution, which charges nothing.',
		code: 'wait_interrupted',
		charge: confirmed ? 'paid' : 'none',
		generation: { id },
	});
}
