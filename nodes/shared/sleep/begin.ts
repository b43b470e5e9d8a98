import { randomUUID } from 'crypto';
import type { INodeExecutionData } from 'n8n-workflow';

import { GenerationError } from '../../../client/api/errors';
import { toResult } from '../../../client/async';
import { newMemory } from '../../../client/jobs/memory';
import type { Plan } from '../form/plan-items';
import type { Failures } from '../run/run-node';
import { spentBy, type StepStart } from '../run/run-plans';
import type { Step } from '../step';
import { polledHint, whyNotSleep } from './can-sleep';
import { fallAsleep, hasFiles } from './fall-asleep';
import type { Sleeper } from './sleeper';
import { newState } from './state';
import { runWave } from './wave';

/** With a shorter Timeout, a sleep would end too late: n8n looks for executions to wake once a minute. */
const LEAST_TIMEOUT_MS = 130_000;

/**
 * Runs the first wave of a step, and lets the execution sleep. If it does not need to, or cannot, the step goes on by itself:
 * the same run again, without a rest.
 *
 * @param step evaluates each expression only once
 * @param start gets what the wave has done
 * @param failures get the errors of the wave
 * @returns the output of the step; `null` if `runNode` must run the jobs
 */
export async function beginSleep(
	step: Step,
	sleeper: Sleeper,
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
		const slept = await fallAsleep(step, sleeper, state);
		if (slept) return slept;
	}
	start.memory = left;
	start.before = stats;
	for (const [index, end] of Object.entries(left.ends)) {
		if (end) failures[Number(index)] = [new GenerationError(end)];
	}
	return null;
}
