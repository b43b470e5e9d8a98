import type { IRunExecutionData } from 'n8n-workflow';

import { onAbort, toResult } from '../../../client/async';
import { secretOf } from '../helper-workflow';
import { wallClock } from '../http/clock';
import type { Step } from '../step';
import { KEPT, keptStep, type KeptParameters } from './kept-step';
import { isState, type SleepState } from './state';

/** What the helper executions of a step that sleeps read from other executions. */

/**
 * Returns the step that sleeps, for a helper execution that works for it.
 *
 * @returns `null` if the execution of the step no longer sleeps: it was stopped, it ended, or it was deleted. Also
 * `null` if the helper workflow does not know the secret of the step, or if n8n has not stored the sleep in time
 */
export async function stepOf(
	helper: Step,
	{ execution, step, run }: SleepState,
): Promise<Step | null> {
	const secret = secretOf(helper);
	if (secret === null) return null;
	return await onceStored(helper, execution, (data) => {
		const kept = data.executionData?.contextData[`node:${step}`]?.[KEPT] as
			| KeptParameters
			| undefined;
		if (kept && kept.secret !== secret) return null;
		// n8n has not stored the sleep yet, so the execution seems to run, or to sleep in an earlier step or round of a loop.
		const task = taskAsleep(data, step);
		if (!task || kept?.run !== run) return undefined;
		// n8n stores all items, even those that Execute Once leaves out.
		const items = (task.data.main[0] ?? []).slice(0, kept.items.length);
		return keptStep(helper, { execution, node: task.node, items, kept });
	});
}

/**
 * The step that sleeps, for a helper execution that begins to work for it.
 *
 * @returns as `stepOf`
 * @throws Error if no execution waits for the helper execution, because n8n took it for dead and another one was started
 */
export async function awaitedStep(helper: Step, state: SleepState): Promise<Step | null> {
	const step = await stepOf(helper, state);
	const waits = await isAwaited(helper, state);
	if (step === null || !waits) {
		const ids = state.memory.unwritten.map((row) => row.generation_id);
		const what = `"${state.step}" was stopped, or continues in another execution. Charged, and not in the data table`;
		if (ids.length > 0) helper.n8n.logger.warn(`${what}: ${ids.join(', ')}`, { generations: ids });
	}
	if (!waits) throw new Error('No execution waits for this one');
	return step;
}

/** True if the execution that started the helper execution (`awaitedBy`) still sleeps until the helper execution ends. */
async function isAwaited(helper: Step, { awaitedBy }: SleepState): Promise<boolean> {
	if (!awaitedBy) return false;
	const read = (data: IRunExecutionData) => taskAsleep(data, awaitedBy.node);
	return (await onceStored(helper, awaitedBy.execution, read)) !== null;
}

/**
 * The state that an execution of waves stored at its last sleep, before it was killed. `null` if n8n has no state of this
 * step for it: if a worker was killed, n8n has overwritten the state.
 */
export async function stateOf(
	helper: Step,
	waves: string,
	{ execution, step, run }: SleepState,
): Promise<SleepState | null> {
	const found = await toResult(async () => await helper.n8n.getExecutionDataById(waves));
	const state: unknown = found.ok && found.value?.executionData?.contextData.flow?.state;
	if (!isState(state) || state.execution !== execution) return null;
	return state.step === step && state.run === run ? state : null;
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

/** The pause between two checks whether the step was stopped. No shorter, because each check reads all of its items. */
const STOP_CHECK_MS = 8_000;

/**
 * Runs the work of a helper execution. Ends the work soon after the user has stopped the step's sleeping execution, because
 * n8n stops only that one. Also ends it a minute after another helper execution has taken the place of this one.
 *
 * @param step from `stepOf`
 * @param state names the executions that sleep
 * @param work runs as the step, with a signal that aborts after a stop
 * @returns the result of the work. `stopped`: true if the work was ended in one of these two cases
 * @throws the error of the work
 */
export async function unlessStopped<T>(
	step: Step,
	state: SleepState,
	work: (step: Step) => Promise<T>,
): Promise<{ result: T; stopped: boolean }> {
	const stop = new AbortController();
	const ended = new AbortController();
	const forget = onAbort(step.signal, () => stop.abort());
	let stopped = false;
	const watchBatch = async () => {
		while (!stopped) {
			await wallClock.sleep(STOP_CHECK_MS, ended.signal);
			if (ended.signal.aborted) return;
			const isOn = async () =>
				(await stepOf(step, state)) !== null && (await isAwaited(step, state));
			const found = await toResult(isOn);
			stopped = found.ok && !found.value;
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
