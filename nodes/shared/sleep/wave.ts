import type { CreateJob } from '../../../client/job';
import type { PipelineResult, PipelineStats } from '../../../client/pipeline';
import type { StatusChecks } from '../../../client/watch/status-requests';
import { Shift } from '../../../client/step/shift';
import type { Journal } from '../../../client/orders/journal';
import { hasId, type Row } from '../../../client/orders/table';
import { continuesOnError } from '../execution';
import { wallClock } from '../http/clock';
import { openRecord, rowsOf } from '../record/record';
import type { Plan } from '../form/plan-items';
import { traceStep } from '../output/trace';
import { runPlans, startOf } from '../run/run-plans';
import { collecting, planWave, type WaveState } from '../../../client/step/wave-plan';
import { recordEnds, waveResult } from '../../../client/step/wave-result';
import { shortly, STORED_VERSION, type SleepState } from './state';
import type { Step } from '../step';

/** The state of a sleeping batch. It repeats generation ids, because rows can be deleted. */
export type BatchState = SleepState & WaveState;

/** The result of a wave of it. */
type WaveReport = WaveState & Pick<SleepState, 'v' | 'stopped' | 'wakeAt' | 'sleepsFrom'>;

/** How a wave ended. */
interface EndedWave {
	report: WaveReport;
	stats: PipelineStats;
	/** When the poll interval allows the next status checks, in milliseconds since the Unix epoch. */
	nextCheckAt: number;
}

interface WaveTerms {
	/** Status checks of earlier waves. Those of this wave are added. */
	checks?: StatusChecks;
	/** False if the execution cannot sleep, so that the wave runs until its jobs have ended. Default: true. */
	rests?: boolean;
}

/**
 * Runs one wave: collects what has ended, fills the free slots, and stops when nothing is due to end soon.
 *
 * @param step the step itself, or a wave that acts as the step
 * @param planned the valid items of the step
 * @param state what earlier waves reported; `sleepsFrom` is 0 for the first wave
 * @throws GenerationError `record_unavailable`
 */
export async function runWave(
	step: Step,
	planned: Plan[],
	state: Omit<WaveState, 'over'> & Pick<BatchState, 'sleepsFrom'>,
	{ checks, rests = true }: WaveTerms = {},
): Promise<EndedWave> {
	const jobs = planned.map(({ job }) => {
		return { ...(job as CreateJob), tried: state.tried[job.itemIndex] };
	});
	const rows = await rowsOf(step, jobs, Object.values(state.unrecorded));
	const now = wallClock.now();
	const mostNew = rests ? undefined : Infinity;
	const start = await startOf(step, checks);
	const batch = step.execution;
	const isFirst = state.sleepsFrom === 0;
	const earlier = isFirst ? earlierRounds(rows, batch, start.journal) : state.earlier;
	const plan = planWave(jobs, { ...state, earlier }, rows, batch, now, mostNew);
	const sleptMs = isFirst ? 0 : now - state.sleepsFrom;
	const shift = new Shift(wallClock, { sleptMs, durations: state.durations });
	const options = { ...start.options, spentBefore: plan.spentBefore };
	const record = await openRecord(step, start.journal, plan.sources);
	const plans = plan.jobs.map((job) => ({ job, download: null }));
	const run = async () => {
		const terms = { ...start, options, ...(rests && { shift }) };
		const ran = await runPlans(step, plans, terms, record);
		if (record) recordEnds(record, plan, ran.outcomes);
		return ran;
	};
	const result = await run().finally(async () => await record?.close());
	traceStep(step, { ...result, jobs });
	const stopOnError = !continuesOnError(step);
	const { nextAt, ...found } = waveResult(
		plan,
		result,
		shift,
		record,
		{ stopOnError, rests },
		wallClock.now(),
	);
	// A clock that was set back does not extend the sleep. An error that ends the batch needs no further check.
	const checkedAt = Math.min(lastCheckAt(start.checks, result, found.over), wallClock.now());
	const hasFailed = found.over && stopOnError && result.firstFailed !== null;
	const nextCheckAt = hasFailed ? 0 : checkedAt + options.pollIntervalMs;
	return {
		report: {
			v: STORED_VERSION,
			...found,
			stopped: false,
			wakeAt: found.over ? nextCheckAt : Math.max(nextAt ?? shortly(), nextCheckAt),
			sleepsFrom: wallClock.now(),
		},
		stats: result.stats,
		nextCheckAt,
	};
}

/**
 * Returns when the generations to check again were last checked: those still running, or all of them once the batch is
 * over.
 */
function lastCheckAt(
	checks: StatusChecks,
	{ outcomes }: PipelineResult<unknown>,
	isOver: boolean,
): number {
	const running = outcomes.flatMap((outcome) =>
		outcome.kind === 'stopped' && outcome.generation ? [outcome.generation.id] : [],
	);
	const ids = isOver ? [...checks.keys()] : running;
	return ids.reduce((last, id) => Math.max(last, checks.get(id)?.at ?? 0), 0);
}

/**
 * Returns the ids of generations that the execution created in earlier rounds of a loop. For this round, they are those of
 * another execution: their timeouts and limits start anew.
 *
 * @param journal the generations of all attempts of this round
 */
function earlierRounds(rows: Row[], batch: string, journal: Journal): string[] {
	const ofRound = new Set(
		Object.values(journal.ordersOfRun).flatMap((all) => all.map(({ id }) => id)),
	);
	const own = rows.filter((row) => row.execution_id === batch && hasId(row));
	return own.map((row) => row.generation_id).filter((id) => !ofRound.has(id));
}

/** The plan of an item whose generation is only fetched; its own plan if it has none. */
export function fetching(plan: Plan, rows: Map<number, Row>): Plan {
	const job = plan.job as CreateJob;
	const row = rows.get(job.itemIndex);
	return row ? { ...plan, draft: job.draft, job: collecting(job, row, wallClock.now()) } : plan;
}
