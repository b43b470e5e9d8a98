import type { INodeExecutionData } from 'n8n-workflow';

import { wallClock } from '../http/clock';
import { notAsleep } from './failure';
import type { Sleeper } from './sleeper';
import { asleep, isCurrent, isState, messageIn } from './state';
import type { Step } from '../step';

/** A shorter pause is spent awake, because n8n may need a minute to wake an execution. */
const BRIEF_MS = 10_000;

/**
 * Sleeps until the time in the state. With `by`, it always sleeps in n8n: the execution that waits for this one is then
 * asleep before this one ends. Otherwise, a pause of up to `BRIEF_MS` is spent awake.
 *
 * @returns the input, which n8n also returns after a sleep
 */
export async function firstSleep(helper: Step, sleeper: Sleeper): Promise<INodeExecutionData[][]> {
	const input = helper.items;
	const state = messageIn(input[0])?.state;
	if (!isState(state)) throw notAsleep(helper, sleeper);
	// The next node reports a state that cannot be read.
	if (!isCurrent(state)) return [input];
	const { wakeAt, by } = state;
	const pauseMs = wakeAt - wallClock.now();
	if (by || pauseMs > BRIEF_MS) {
		await helper.n8n.putExecutionToWait(new Date(wakeAt));
		return asleep;
	}
	await wallClock.sleep(Math.max(0, pauseMs), helper.signal);
	return [input];
}
