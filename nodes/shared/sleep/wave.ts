import type { CreateJob } from '../../../client/jobs/job';
import type { PipelineResult, PipelineStats } from '../../../client/step/pipeline';
import type { StatusChecks } from '../../../client/watch/status-requests';
import type { Journal } from '../../../client/orders/journal';
import { isLimited } from '../../../client/orders/spend-guard';
import type { Row } from '../../../client/jobs/row';
import { continuesOnError } from '../execution';
import { wallClock } from '../http/clock';
import { openRecord, rowsOf } from '../record/record';
import type { Plan } from '../form/plan-items';
import { promptIn } from '../output/fetch-output';
import { traceStep } from '../output/trace';
import { runPlans, startOf } from '../run/run-plans';
import { advance } from '../../../client/step/advance';
import { collecting, type ItemStates, type WaveState } from '../../../client/step/wave-plan';
import { shortly, STORED_VERSION, type SleepState } from './state';
import type { Step } from '../step';

/** The state of a sleeping batch. It repeats generation ids, because rows can be deleted. */
export type BatchState = SleepState & WaveState;

/** The result of a wave of it. */
type WaveReport = WaveState & Pick<SleepState, 'v' | 'over' | 'stopped' | 'wakeAt' | 'sleepsFrom'>;

/**
 * Runs one wave of a step, and says when the next one begins.
 *
 * @param planned the valid items of the step
 * @param state what earlier waves reported; `sleepsFrom` is 0 for the first wave
 * @param checks status checks of earlier waves; those of this wave are added
 * @param rests false if the execution cannot sleep, so that the wave runs until its jobs have ended
 * @throws GenerationError `record_unavailable`
 */
export async function runWave(
	step: Step,
	planned: Plan[],
	state: WaveState & Pick<BatchState, 'sleepsFrom'>,
	{ checks, rests = true }: { checks?: StatusChecks; rests?: boolean } = {},
): Promise<{ report: WaveReport; stats: PipelineStats }> {
	const jobs = planned.map(({ job }) => job as CreateJob);
	const start = await startOf(step, checks);
	const stopOnError = !continuesOnError(step);
	const { result, ran } = await advance(
		jobs,
		state,
		{
			clock: wallClock,
			read: async (keyed, missing) => await rowsOf(step, keyed, missing),
			open: async (keyed) => await openRecord(step, start.journal, keyed),
			run: async (some, record, { spentBefore, ...shift }) => {
				const options = { ...start.options, spentBefore };
				const plans = some.map((job) => ({ job, download: null }));
				return await runPlans(step, plans, { ...start, ...shift, options }, record);
			},
		},
		{
			batch: step.execution,
			stopOnError,
			inOrder: stopOnError && isLimited(start.options),
			rests,
			sleepsFrom: state.sleepsFrom,
			ofRound: idsIn(start.journal),
		},
	);
	traceStep(step, { ...ran, jobs });
	const { nextAt, ...found } = result;
	const hasFailed = found.over && stopOnError && ran.firstFailed !== null;
	const deadlines = deadlinesOf(jobs, [state.items, found.items]);
	const { pollIntervalMs } = start.options;
	const checkAt = nextCheckAt(start.checks, ran, found.over, deadlines, pollIntervalMs);
	// An error that ends the batch needs no further check.
	const earliestAt = hasFailed ? 0 : checkAt;
	return {
		report: {
			v: STORED_VERSION,
			...found,
			stopped: false,
			wakeAt: found.over ? earliestAt : Math.max(nextAt ?? shortly(), earliestAt),
			sleepsFrom: wallClock.now(),
		},
		stats: ran.stats,
	};
}

/** The generations of all attempts of this run of the step: none in a wave after a sleep, whose journal is empty. */
function idsIn({ ordersOfRun }: Journal) {
	return new Set(Object.values(ordersOfRun).flatMap((all) => all.map(({ id }) => id)));
}

/**
 * Returns when the Poll Interval allows the next check: of the generations still running, or of all of them once the batch
 * is over. An interval that is longer than the timeout of an item does not extend it.
 */
function nextCheckAt(
	checks: StatusChecks,
	{ outcomes }: PipelineResult<unknown>,
	isOver: boolean,
	deadlines: Map<string, number>,
	pollIntervalMs: number,
): number {
	const deadlineOf = (id: string) => deadlines.get(id) ?? Infinity;
	const now = wallClock.now();
	// A clock that was set back does not extend the sleep.
	const dueAt = (id: string) => Math.min(checks.get(id)?.at ?? 0, now) + pollIntervalMs;
	const latest = (times: number[]) => times.reduce((last, at) => Math.max(last, at), 0);
	if (isOver) return latest([...checks.keys()].map((id) => Math.min(dueAt(id), deadlineOf(id))));
	const running = outcomes.flatMap((outcome) =>
		outcome.kind === 'stopped' && outcome.generation ? [outcome.generation.id] : [],
	);
	return running.map(deadlineOf).reduce((a, b) => Math.min(a, b), latest(running.map(dueAt)));
}

/** When the waits for generations end, by their ids. An item that has failed keeps no generation in the newer state. */
function deadlinesOf(jobs: CreateJob[], states: ItemStates[]): Map<string, number> {
	const deadlines = states.flatMap((items) =>
		jobs.flatMap(({ itemIndex, timeoutMs }) => {
			const generation = items[itemIndex]?.generation;
			return generation ? [[generation.id, generation.since + timeoutMs] as const] : [];
		}),
	);
	return new Map(deadlines);
}

/** The plan of an item whose generation is only fetched; its own plan if it has none. */
export function fetching(plan: Plan, rows: Map<number, Row>): Plan {
	const job = plan.job as CreateJob;
	const row = rows.get(job.itemIndex);
	return row
		? { ...plan, prompt: promptIn(job.draft), job: collecting(job, row, wallClock.now()) }
		: plan;
}
