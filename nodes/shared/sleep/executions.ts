import type { IRunExecutionData } from 'n8n-workflow';

import { onAbort, toResult } from '../../../client/async';
import { secretOf } from '../helper-workflow';
import { wallClock } from '../http/clock';
import type { Step } from '../step';
import { KEPT, keptStep, type KeptParameters } from './kept-step';
import { otherVersion } from './other-version';
import type { Sleeper } from './sleeper';
import { isCurrent, isState, messageIn, takeIn, type WaveOrder, type SleepState } from './state';

/** What the executions of a step that sleeps read of each other. */

/** Identifies a step that sleeps: its execution (`batch`), the name of its node (`step`), and its run index. */
type StepOf = Pick<SleepState, 'v' | 'batch' | 'step' | 'run'>;

/** For the error of a step that cannot be read. */
type Advice = Pick<Sleeper, 'createsNothing' | 'howToGoOn'>;

/**
 * Returns the step that sleeps, for a helper execution that works for it.
 *
 * @returns `null` if the execution of the step no longer sleeps: it was stopped, it ended, or it was deleted. Also
 * `null` if the helper workflow does not know the secret of the step, or if the sleep is not stored in time
 * @throws NodeApiError if another release has stored the order or the parameters of the step, and this one cannot read them
 */
export async function stepOf(helper: Step, order: StepOf, sleeper: Advice): Promise<Step | null> {
	if (!isCurrent(order)) throw await otherVersion(helper, [order], sleeper);
	const { batch, step, run } = order;
	const secret = secretOf(helper);
	if (secret === null) return null;
	let isReadable = true;
	const found = await onceStored(helper, batch, (data) => {
		const kept = data.executionData?.contextData[`node:${step}`]?.[KEPT] as
			| KeptParameters
			| undefined;
		if (kept && kept.secret !== secret) return null;
		// Until n8n has stored the sleep, the execution seems to run, or to sleep in an earlier step or round of a loop.
		const task = taskAsleep(data, step);
		isReadable = !task || isCurrent(kept);
		if (!task || !kept || !isReadable || kept.run !== run) return undefined;
		// n8n stores all items, even those that Execute Once leaves out.
		const items = (task.data.main[0] ?? []).slice(0, kept.items.length);
		return keptStep(helper, { execution: batch, node: task.node, items, kept });
	});
	if (!isReadable) throw await otherVersion(helper, [order], sleeper);
	return found;
}

/**
 * True if the supervisor that started a wave sleeps until the wave ends. If n8n was killed before it had stored that, the
 * guard has started another supervisor with waves of its own.
 */
export async function isAwaited(helper: Step, { by }: WaveOrder): Promise<boolean> {
	if (!by) return true;
	const read = (data: IRunExecutionData) => taskAsleep(data, by.node);
	return (await onceStored(helper, by.execution, read)) !== null;
}

/**
 * The state of a supervisor that was killed while it was awake: the state at its last sleep, with the report of the
 * wave that woke it. `null` if it has stored no state of this step, or none that this release can read.
 */
export async function stateOf(
	helper: Step,
	supervisor: string,
	{ batch, step, run }: StepOf,
): Promise<SleepState | null> {
	const found = await toResult(async () => await helper.n8n.getExecutionDataById(supervisor));
	const { contextData, nodeExecutionStack } = (found.ok && found.value?.executionData) || {};
	const state: unknown = contextData?.flow?.batch;
	if (!isState(state) || !isCurrent(state)) return null;
	if (state.batch !== batch || state.step !== step || state.run !== run) return null;
	const [item] = nodeExecutionStack?.[0]?.data.main[0] ?? [];
	const report = item && messageIn(item)?.report;
	if (report && isCurrent(report)) takeIn(state, report);
	return state;
}

/** The node at which an execution sleeps, with its input; `undefined` if it does not sleep there. */
function taskAsleep({ waitTill, executionData }: IRunExecutionData, node: string) {
	const task = executionData?.nodeExecutionStack[0];
	return waitTill && task?.node.name === node ? task : undefined;
}

/** How often and how long to wait until n8n has stored that an execution sleeps. */
const STORING = { looks: 12, pauseMs: 5_000 };

/**
 * Reads an execution once it is stored as expected.
 *
 * @param read returns `undefined` if the execution is not yet stored as expected. It is then read again
 * @returns what `read` returns; `null` if the execution has failed, was stopped or deleted, or is not stored as
 * expected in time
 */
async function onceStored<T>(
	helper: Step,
	execution: string,
	read: (data: IRunExecutionData) => T | null | undefined,
): Promise<T | null> {
	const { signal } = helper;
	for (let looks = 0; looks < STORING.looks; looks++) {
		const data = await helper.n8n.getExecutionDataById(execution);
		const found = data && !data.resultData.error ? read(data) : null;
		if (found !== undefined) return found;
		await wallClock.sleep(STORING.pauseMs, signal);
		if (signal.aborted) return null;
	}
	return null;
}

/**
 * The pause between two checks whether the batch was stopped. Each check reads the sleeping execution with all of its
 * items, so the pause is at least this many times as long as the last check took.
 */
const STOP_CHECK = { leastMs: 5_000, ofCost: 50 };

/**
 * Runs the work of a wave, and ends it soon after the user has stopped the execution that sleeps: n8n stops that one only.
 *
 * @param step from `stepOf`
 * @param order of the execution that sleeps
 * @param work runs as the step, with a signal that aborts after a stop
 * @returns the result of the work, and whether the batch was stopped
 * @throws the error of the work
 */
export async function unlessStopped<T>(
	step: Step,
	order: StepOf,
	sleeper: Advice,
	work: (step: Step) => Promise<T>,
): Promise<{ result: T; stopped: boolean }> {
	const stop = new AbortController();
	const ended = new AbortController();
	const forget = onAbort(step.signal, () => stop.abort());
	let stopped = false;
	const watchBatch = async () => {
		let pauseMs = STOP_CHECK.leastMs;
		while (!stopped) {
			await wallClock.sleep(pauseMs, ended.signal);
			if (ended.signal.aborted) return;
			const began = wallClock.now();
			const found = await toResult(async () => await stepOf(step, order, sleeper));
			stopped = found.ok && found.value === null;
			pauseMs = Math.max(STOP_CHECK.leastMs, STOP_CHECK.ofCost * (wallClock.now() - began));
		}
		stop.abort();
	};
	void watchBatch();
	try {
		return { result: await work({ ...step, signal: stop.signal }), stopped };
	} finally {
		forget();
		ended.abort();
	}
}
