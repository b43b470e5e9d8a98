import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { GenerationError } from '../../client/wire/errors';
import { wallClock } from '../shared/clock';
import { cancelSignal, isWithinSleep } from '../shared/execution';
import { errorItem } from '../shared/results';
import { runStep } from '../shared/step';
import { napMs } from './naps';
import { planWait } from './request';
import { lastDeadline, type SleepingItem } from './sleeping-workflow';

/** Whether the node is a look of a suspended wait. */
export function isLook(context: IExecuteFunctions): boolean {
	return context.getNodeParameter('mode', 0) === 'check' && isWithinSleep(context);
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
	const deadline = lastDeadline(items);
	const seen =
		wallClock.now() < deadline
			? (await runStep(context, (itemIndex) => planWait(context, itemIndex)))[0]
			: [];
	if (cancelSignal(context).aborted || !seen.some(({ json }) => isUnfinished(json))) {
		return [items.map((json, item) => ({ json: { ...json, ended: true }, pairedItem: { item } }))];
	}
	const [{ waitingSince }] = items;
	const now = wallClock.now();
	await context.putExecutionToWait(
		new Date(now + napMs(now - waitingSince, deadline - waitingSince)),
	);
	return [
		seen.map((item, itemIndex) =>
			item.json.error ? item : errorItem(context, noResult(item.json), itemIndex),
		),
	];
}

function isUnfinished({ error, status }: IDataObject): boolean {
	return !error && status !== 'completed' && status !== 'failed';
}

/** Without its status: whoever goes by that would take one that is completed for a result. */
function noResult({ id, status }: IDataObject): GenerationError {
	return new GenerationError({
		title: `This is no result: generation ${String(id)} was ${String(status)} when the wait fell asleep`,
		description:
			'Where the wait has handed this on, it was broken off: n8n ended while it was looking, or the execution in which it slept was stopped. Fetch the generation by its ID with Wait for Completion in a new execution, which charges nothing.',
		code: 'wait_interrupted',
		charge: 'paid',
		generation: { id: String(id) },
	});
}
