import type { IRunExecutionData } from 'n8n-workflow';

import { onAbort, toResult } from '../../../client/async';
import { secretOf } from '../helper-workflow';
import { wallClock } from '../http/clock';
import type { Step } from '../step';
import { KEPT, keptStep, type KeptParameters } from './kept-step';
import { isState, type SleepState } from './state';

/** With these functions, the helper executions of a sleeping step read other executions. */

/**
 * Returns the step that sleeps, for a helper execution that works for it.
 *
 * @returns `null` if the execution of the step no longer sleeps: it was stopped, it ended, or it was deleted. Also
 * `null` if the helper workflow lacks the step's secret (`KeptParameters`), or n8n has not stored the sleep within a minute
 */
export async function stepOf(
	helper: Step,
	{ execution, step, run }: SleepState,
): Promise<Step | null> {
	const secret = secretOf(helper);
	return await onceStored(helper, execution, (data) => {
		const kept = data.executionData?.contextData[`node:${step}`]?.[KEPT] as
			| KeptParameters
			| undefined;
		if (kept && kept.secret !== secret) return null;
		// If n8n has not stored this sleep yet, it shows an earlier state: return `undefined` to read again.
		const task = taskAsleep(data, step);
		if (!task || kept?.run !== run) return undefined;
		// n8n stores all input items. With Execute Once, the step has only the first one, so the others are removed.
		const items = (task.data.main[0] ?? []).slice(0, kept.items.length);
		return keptStep(helper, { execution, node: task.node, items, kept });
	});
}

/**
 * Returns the step that sleeps, for a helper execution that begins to work for it.
 *
 * @returns `null` if the step no longer sleeps, or cannot be read (`stepOf`)
 * @throws Error if no execution waits for the helper execution: the waiting one was stopped, or waits for a newer helper
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

/** True if the execution that started the helper execution (`awaitedBy`) still sleeps, waiting for the helper to end. */
async function isAwaited(helper: Step, { awaitedBy }: SleepState): Promise<boolean> {
	if (!awaitedBy) return false;
	const read = (data: IRunExecutionData) => taskAsleep(data, awaitedBy.node);
	return (await onceStored(helper, awaitedBy.execution, read)) !== null;
}

/**
 * Reads the state that a killed execution of the waves had stored when it last fell asleep. `null` if there is none: after a
 * worker was killed, n8n may overwrite what its execution had stored.
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

/** The node at which an execution sleeps, with the node's input; `undefined` if the execution does not sleep at `node`. */
function taskAsleep({ waitTill, executionData }: IRunExecutionData, node: string) {
	const task = executionData?.nodeExecutionStack[0];
	return waitTill && task?.node.name === node ? task : undefined;
}

/** Maximum number of reads until n8n has stored that an execution sleeps, and the pause between two reads. */
const STORING = { looks: 12, pauseMs: 5_000 };

/**
 * Reads an execution, again and again until n8n has stored what the caller waits for.
 *
 * @param read gets the execution as n8n has stored it. Returns `undefined` if the execution must be read again
 * @returns what `read` returns; `null` if the execution has failed, was stopped or deleted, or if n8n has not stored in
 * time what the caller waits for
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

/** The pause between two checks whether the step was stopped. Each check reads all items of the step, so checks are rare. */
const STOP_CHECK_MS = 8_000;

/**
 * Runs the work of a helper execution. Aborts the work soon after the user has stopped the step, because n8n then does not
 * stop helper executions. Also aborts the work a minute after another helper execution has replaced this one.
 *
 * @param step the step that sleeps, from `stepOf`
 * @param state names the executions that sleep
 * @param work gets the step with a signal that aborts in these two cases, or if this helper execution is stopped
 * @returns the result of the work. `stopped`: true if the work was ended in one of these two cases
 * @throws what `work` throws
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
