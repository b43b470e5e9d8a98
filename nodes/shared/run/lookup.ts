import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { CancelledError } from '../../../client/api/errors';
import { errorOfJob } from '../../../client/jobs/outcome';
import type { ServiceClient } from '../../../client/api/client';
import { continuesOnError, isCallOver, runsAsTool } from '../execution';
import { stepError } from '../output/node-error';
import { errorItem } from '../output/results';
import { traceStep } from '../output/trace';
import { yieldBefore } from '../http/clock';
import { serviceOf } from '../http/transport';
import { callOver, withinCall } from './tool-call';
import type { Step } from '../step';

/** The read-only requests. Their answers are the same for all items of a step, so each request is sent once. */
export type Lookups = Pick<ServiceClient, 'models' | 'balance' | 'summary'>;

/** Fetches the entries for one item. Throws `GenerationError`, or `CancelledError` after a stop. */
type FetchEntries = (lookups: Lookups, itemIndex: number) => Promise<object[]>;

/**
 * Runs a read-only node. Each entry that the service returns becomes one output item, paired with its input
 * item. After a stop, it returns the items collected so far.
 *
 * @returns the items of the node's single output
 * @throws NodeApiError for the first item that fails, unless On Error continues
 */
export async function runLookups(
	step: Step,
	fetchEntries: FetchEntries,
): Promise<INodeExecutionData[][]> {
	const run = async (within: Step) => await lookUp(within, fetchEntries);
	return await (runsAsTool(step) ? withinCall(step, run) : run(step));
}

async function lookUp(step: Step, fetchEntries: FetchEntries): Promise<INodeExecutionData[][]> {
	const lookups = askingOnce(serviceOf(step));
	const items: INodeExecutionData[] = [];
	let balance: unknown;
	for (let itemIndex = 0; itemIndex < step.items.length; itemIndex++) {
		await yieldBefore(itemIndex);
		const fetched = await toResult(async () => await fetchEntries(lookups, itemIndex));
		if (fetched.ok) {
			const pairedItem = { item: itemIndex };
			const found = fetched.value.map((entry): IDataObject => ({ ...entry }));
			balance ??= found[0]?.balance;
			items.push(...found.map((json) => ({ json, pairedItem })));
			continue;
		}
		const isOver = isCallOver(step);
		if (fetched.error instanceof CancelledError && !isOver) break;
		const error = isOver ? callOver() : errorOfJob(fetched.error, null);
		if (!continuesOnError(step)) {
			traceStep(step, {});
			throw stepError(step, error, 0, [{ kind: 'error', error, itemIndex }]);
		}
		items.push(errorItem(step, error, itemIndex));
	}
	traceStep(step, typeof balance === 'number' ? { balance } : {});
	return [items];
}

/** Sends each request only once. Further calls get the same result, even if it is an error. */
function askingOnce(service: ServiceClient): Lookups {
	const answers = new Map<string, Promise<unknown>>();
	const once = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
		const answer = answers.get(what) ?? ask();
		answers.set(what, answer);
		return (await answer) as T;
	};
	return {
		models: async (type) => await once(type, async () => await service.models(type)),
		balance: async () => await once('balance', async () => await service.balance()),
		summary: async () => await once('summary', async () => await service.summary()),
	};
}
