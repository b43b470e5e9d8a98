import type { INodeExecutionData } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import type { Memory } from '../../../client/jobs/memory';
import type { PipelineResult } from '../../../client/step/pipeline';
import { continuesOnError } from '../execution';
import { planItems, type Plan } from '../form/plan-items';
import { wallClock } from '../http/clock';
import { reportEnd } from '../output/report';
import type { Output } from '../output/results';
import { traceStep } from '../output/trace';
import { openRecord } from '../record/record';
import { runPlans, startOf, type StepStart } from '../run/run-plans';
import { awaitedStep, unlessStopped } from './executions';
import {
	asleep,
	countDeath,
	messageItem,
	nothing,
	shortly,
	takeIn,
	type NodeProfile,
	type SleepState,
} from './state';
import type { Step } from '../step';

/**
 * Runs one wave of a step that sleeps: all items that have not ended run once more. Each reuses its generation, or creates
 * one if it has none yet. The wave ends once nothing is due soon.
 *
 * @param planned the valid items of the step
 * @param memory what earlier waves passed on
 * @returns `wakeAt`: when the next wave begins, in milliseconds since the Unix epoch; `null` if no further wave is needed
 * @throws GenerationError `record_unavailable` if the data table cannot be used
 */
export async function runWave(
	step: Step,
	planned: Plan[],
	memory: Memory,
	start: StepStart,
): Promise<Pick<PipelineResult<Output>, 'wakeAt' | 'stats'> & { memory: Memory }> {
	const open = planned
		.filter(({ job }) => memory.ends[job.itemIndex] === undefined)
		.map((plan) => ({ ...plan, download: null }));
	const jobs = open.map(({ job }) => job);
	// Read the rows of ended items, too: `runPlans` counts all rows of the step, to include what a killed wave has spent.
	const all = planned.map(({ job }) => job);
	const record = await openRecord(step, start.journal, all, memory);
	const running = runPlans(step, open, { ...start, memory, rests: true }, record);
	const ran = await running.finally(async () => await record?.close());
	traceStep(step, { ...ran, jobs });
	const ended = ran.outcomes.map((each, index) => ({ ...each, itemIndex: jobs[index].itemIndex }));
	if (step.signal.aborted) reportEnd(step, 'Stopped', ended);
	const isOver = ran.firstFailed !== null && !continuesOnError(step);
	return {
		memory: {
			...(ran.memory ?? memory),
			unwritten: record?.unrecorded ?? [],
			silences: record?.silences ?? [],
		},
		wakeAt: isOver ? null : ran.wakeAt,
		stats: ran.stats,
	};
}

/** Lets a helper execution sleep first: otherwise, it could end before n8n has stored that another execution awaits it. */
export async function firstSleep(
	helper: Step,
	{ wakeAt }: SleepState,
): Promise<INodeExecutionData[][]> {
	await helper.n8n.putExecutionToWait(new Date(Math.max(wakeAt, shortly())));
	return asleep();
}

/**
 * Runs the next wave of a step, and then lets this helper execution sleep until the following wave is due. If a wave fails,
 * the following one does its work.
 *
 * @param state is changed: it gets what the wave reports
 * @returns the output of the node
 */
export async function nextWave(
	helper: Step,
	state: SleepState,
	profile: NodeProfile,
): Promise<INodeExecutionData[][]> {
	const ended = await toResult(async () => await wave(helper, state, profile));
	if (helper.signal.aborted) return [[messageItem({ stopped: true })]];
	if (!ended.ok) countDeath(state, (ended.error as Error).message);
	else takeIn(state, ended.value);
	if (state.over) return nothing();
	await helper.n8n.putExecutionToWait(new Date(state.wakeAt));
	return asleep();
}

/** Runs a wave. Returns the changes of the state, among them whether the step or this helper execution was stopped. */
async function wave(
	helper: Step,
	state: SleepState,
	profile: NodeProfile,
): Promise<Partial<SleepState>> {
	const step = await awaitedStep(helper, state);
	if (step === null) return { over: true, stopped: true };
	const plans = await planItems(step, profile.plan);
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	const { result: left, stopped } = await unlessStopped(
		step,
		state,
		async (awake) => await runWave(awake, planned, state.memory, startOf(step)),
	);
	const { memory, wakeAt } = left;
	const ends = stopped || helper.signal.aborted;
	const over = ends || wakeAt === null;
	return { memory, over, stopped: ends, wakeAt: wakeAt ?? wallClock.now() };
}
