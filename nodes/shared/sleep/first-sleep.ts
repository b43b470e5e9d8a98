import type { INodeExecutionData } from 'n8n-workflow';

import { notAsleep } from './failure';
import type { Sleeper } from './sleeper';
import { asleep, isCurrent, isState, messageIn, shortly } from './state';
import type { Step } from '../step';

/**
 * Lets an execution sleep before it does anything, so that the execution that waits for it is asleep before this one ends.
 *
 * @returns the input if the next node must report that it cannot be read
 */
export async function firstSleep(helper: Step, sleeper: Sleeper): Promise<INodeExecutionData[][]> {
	const input = helper.items;
	const state = messageIn(input[0])?.state;
	if (!isState(state)) throw notAsleep(helper, sleeper);
	if (!isCurrent(state)) return [input];
	await helper.n8n.putExecutionToWait(new Date(Math.max(state.wakeAt, shortly())));
	return asleep();
}
