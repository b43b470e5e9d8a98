import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { GenerationError, type KnownGeneration } from '../../client/wire/errors';
import { wallClock } from '../shared/clock';
import { cancelSignal } from '../shared/execution';
import { given } from '../shared/parameters';
import { errorItem } from '../shared/results';
import { runStep } from '../shared/step';
import { napMs } from './naps';
import { planWait } from './request';
import { lastDeadline, type SleepingItem } from './sleeping-workflow';

/** Whether the node is a look of a suspended wait. */
export function isLook(context: IExecuteFunctions): boolean {
	return (
		context.getNodeParameter('mode', 0) === 'check' &&
		given(context.getNodeParameter('waitingSince', 0, ''))
	);
}

/**
 * One look of a suspended wait: where anything is unfinished and has time left it puts the execution to sleep. n8n does
 * not run the node again when that wakes but hands its input on, to the next look.
 *
 * What it puts out before the sleep is seen where n8n was killed after it, and then handed on as the outcome of the
 * wait: so every item of it says that it is none.
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

function noResult(json: IDataObject): GenerationError {
	const generation = json as unknown as KnownGeneration;
	return new GenerationError({
		title: `This is no result: generation ${generation.id} was ${generation.status} when the wait fell asleep`,
		description:
			'Where the wait has handed this on, n8n ended while it was looking. Nothing more was charged, and the generation went on: fetch it by its ID with Wait for Completion in a new execution, which charges nothing.',
		code: 'wait_interrupted',
		charge: 'paid',
		generation,
	});
}
