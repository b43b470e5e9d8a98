import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { GenerationError, isForeign } from '../../client/wire/errors';
import { wallClock } from '../shared/clock';
import { cancelSignal, isWithinSleep } from '../shared/execution';
import { errorItem, failureOf } from '../shared/results';
import { runStep } from '../shared/step';
import { napMs } from './naps';
import { modeOfFirst, planWait } from './request';
import { deadlineOf, lastDeadline, type SleepingItem } from './sleeping-workflow';

/** Whether the node is a look of a suspended wait. */
export function isLook(context: IExecuteFunctions): boolean {
	return modeOfFirst(context) === 'check' && isWithinSleep(context);
}

/**
 * One look of a suspended wait: where anything is unfinished and has time left it puts the execution to sleep. n8n does
 * not run the node again when that wakes but hands its input on, to the next look.
 *
 * What it puts out before the sleep is what n8n hands on as the outcome of the wait where that is broken off (its
 * execution is stopped, or killed and n8n has lost its log of it): so every item of it says that it is none.
 */
export async function look(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const input = context.getInputData();
	const items = input.map(({ json }) => json as SleepingItem);
	if (items[0].ended) return [input];
	if (wallClock.now() >= lastDeadline(items)) return [ended(items)];
	if (wallClock.now() < items[0].waitingSince + intervalOf(items)) {
		const unseen = items.map(({ generationId: id, error, error_code }) => ({
			json: { id, status: null, ...(error && { error, error_code }) },
		}));
		return await sleep(context, items, unseen as INodeExecutionData[]);
	}
	const [seen] = await runStep(context, (itemIndex) => planWait(context, itemIndex));
	if (cancelSignal(context).aborted) return [ended(items)];
	const now = wallClock.now();
	const unfinished = items.filter((item, itemIndex) => {
		return isUnfinished(seen[itemIndex]) && now < deadlineOf(item);
	});
	return unfinished.length === 0 ? [ended(items)] : await sleep(context, unfinished, seen);
}

/**
 * Puts the execution to sleep until the next look.
 *
 * @param unfinished what it sleeps for
 * @param seen all items, as they were last seen
 */
async function sleep(
	context: IExecuteFunctions,
	unfinished: SleepingItem[],
	seen: INodeExecutionData[],
): Promise<INodeExecutionData[][]> {
	const [{ waitingSince }] = unfinished;
	const now = wallClock.now();
	const timeoutMs = lastDeadline(unfinished) - waitingSince;
	const nap = napMs(now - waitingSince, timeoutMs, intervalOf(unfinished));
	await context.putExecutionToWait(new Date(now + nap));
	return [
		seen.map((item, itemIndex) =>
			item.json.error ? item : errorItem(context, noResult(item.json), itemIndex),
		),
	];
}

/** The poll interval in milliseconds; none where it is no number, of which `planWait` tells. */
function intervalOf([{ options }]: SleepingItem[]): number {
	return 1000 * (Number(options.pollInterval) || 0);
}

/** What the line of looks hands on to the collecting. */
function ended(items: SleepingItem[]): INodeExecutionData[] {
	return items.map((json, item) => ({ json: { ...json, ended: true }, pairedItem: { item } }));
}

/**
 * Whether there is anything to sleep for. A service that is in trouble during a look will be asked again after the sleep,
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

/** Without its status: whoever goes by that would take one that is completed for a result. */
function noResult({ id, status }: IDataObject): GenerationError {
	const seen = status === null ? 'had not been seen yet' : `was ${String(status)}`;
	return new GenerationError({
		title: `This is no result: generation ${String(id)} ${seen} when the wait fell asleep`,
		description:
			'Where the wait has handed this on, it was broken off: n8n ended while it was looking, or the execution in which it slept was stopped. Fetch the generation by its ID with Wait for Completion in a new execution, which charges nothing.',
		code: 'wait_interrupted',
		charge: 'paid',
		generation: { id: String(id) },
	});
}
