import { randomUUID } from 'crypto';
import type { INodeExecutionData } from 'n8n-workflow';

import { GenerationError } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { newMemory } from '../../../client/jobs/memory';
import { keptInput } from '../form/include-option';
import type { Plan } from '../form/plan-items';
import { newTerms, runHelper } from '../helper-workflow';
import type { Failures } from '../run/run-node';
import { spentBy, type StepStart } from '../run/run-plans';
import type { Step } from '../step';
import { polledHint, whyNotSleep } from './can-sleep';
import { keepParameters } from './kept-step';
import { messageItem, newState, type SleepState, type NodeProfile } from './state';
import { runWave } from './wave';
import { guardWorkflow } from './workflows';

/** If every Timeout is shorter, the step does not sleep: n8n wakes executions only once a minute, which may be too late. */
const LEAST_TIMEOUT_MS = 130_000;

/**
 * Runs the first wave of a step (its work until nothing is due soon), and then lets the execution sleep. If no sleep is
 * needed, or n8n cannot suspend the execution, `runNode` must finish the step without a sleep.
 *
 * @param step from `evaluatingOnce`, so that the values before and after the sleep are the same
 * @param start is changed: it gets the memory and the counters of the wave, so that `runNode` can go on from there
 * @param failures is changed: it gets the errors of items that failed in the wave
 * @returns the output of the step; `null` if `runNode` must run the jobs
 */
export async function beginSleep(
	step: Step,
	profile: NodeProfile,
	start: StepStart,
	planned: Plan[],
	failures: Failures,
): Promise<INodeExecutionData[][] | null> {
	const isShort = planned.every(({ job }) => job.timeoutMs < LEAST_TIMEOUT_MS);
	const tooShort = isShort ? `every Timeout is shorter than ${LEAST_TIMEOUT_MS / 1000} s` : null;
	const reason = whyNotSleep(step) ?? tooShort;
	if (reason !== null) return polledHint(step, reason);
	const { journal, startedAt } = start;
	const memory = newMemory(randomUUID(), startedAt, spentBy(journal));
	failures.forEach(([error], itemIndex) => {
		if (error) memory.ends[itemIndex] = error.fields;
	});
	const begun = await toResult(async () => await runWave(step, planned, memory, start));
	if (step.signal.aborted) return null;
	if (!begun.ok) {
		const { message } = begun.error as Error;
		return polledHint(step, `the first items could not be submitted: ${message}`);
	}
	const { memory: left, stats, wakeAt } = begun.value;
	if (wakeAt !== null) {
		const state = newState(step, journal.runIndex, left, hasFiles(step, planned));
		const slept = await fallAsleep(step, profile, state);
		if (slept) return slept;
	}
	start.memory = left;
	start.before = stats;
	for (const [index, end] of Object.entries(left.ends)) {
		if (end) failures[Number(index)] = [new GenerationError(end)];
	}
	return null;
}

/** True if the output of a step may have files: the step downloads some, or passes on files of its input items. */
function hasFiles(step: Step, planned: Plan[]): boolean {
	const downloads = planned.some(({ download }) => download !== null);
	return downloads || step.items.some((_, index) => keptInput(step, index)?.binary);
}

/**
 * Lets the execution of a step sleep until its helper executions have ended. n8n then returns their result as the output
 * of the step.
 *
 * @param step from `evaluatingOnce`, so that the values before and after the sleep are the same
 * @returns what the step must return now; `null` if n8n could not suspend the execution. The step then goes on awake
 */
async function fallAsleep(
	step: Step,
	{ fields, noun }: Pick<NodeProfile, 'fields' | 'noun'>,
	state: SleepState,
): Promise<INodeExecutionData[][] | null> {
	const secret = keepParameters(step, fields, state.run);
	const guard = guardWorkflow({ node: step.node, step: state.step, noun });
	const terms = newTerms(step, secret);
	const slept = await toResult(
		async () => await runHelper(step, guard, [messageItem({ state })], terms),
	);
	// If the guard sleeps, n8n later replaces this empty list. An error item instead would trigger Retry On Fail.
	if (slept.ok) return [slept.value.output ?? []];
	polledHint(step, `n8n could not suspend the execution: ${(slept.error as Error).message}`);
	return null;
}
