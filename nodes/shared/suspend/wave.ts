import type { IExecuteFunctions } from 'n8n-workflow';

import type { CreateJob } from '../../../client/job';
import { Shift } from './shift';
import type { Row } from '../../../client/orders/table';
import { continuesOnError } from '../execution';
import { wallClock } from '../http/clock';
import { openRecord, rowsOf } from '../record/record';
import type { Plan } from '../form/plan-items';
import { runPlans, startOf } from '../run-plans';
import { collecting, planWave, recordEnds, rowOf, waveResult, type WaveState } from './wave-plan';
import { shortly, type BatchState, type WaveReport } from './batch-state';

/**
 * Runs one wave: collects what has ended, fills the free slots, and stops when nothing is due to end soon.
 *
 * @param context the step itself, or a wave that acts as the step
 * @param planned the valid items of the step
 * @param state what earlier waves reported; `sleepsFrom` is 0 for the first wave
 * @throws GenerationError `record_unavailable`
 */
export async function runWave(
	context: IExecuteFunctions,
	planned: Plan[],
	state: Omit<WaveState, 'over'> & Pick<BatchState, 'sleepsFrom'>,
): Promise<WaveReport> {
	const jobs = planned.map(({ job }) => {
		return { ...(job as CreateJob), tried: state.tried[job.itemIndex] };
	});
	const rows = await rowsOf(context, jobs, Object.values(state.unrecorded));
	const now = wallClock.now();
	const plan = planWave(jobs, state, rows, context.getExecutionId(), now);
	const sleptMs = state.sleepsFrom > 0 ? now - state.sleepsFrom : 0;
	const shift = new Shift(wallClock, { sleptMs, durations: state.durations });
	const start = startOf(context);
	const options = { ...start.options, spentBefore: plan.spentBefore };
	const record = await openRecord(context, start.journal, plan.sources);
	const plans = plan.jobs.map((job) => ({ job, download: null }));
	const run = async () => {
		const ran = await runPlans(context, plans, { ...start, options, shift }, record);
		if (record) recordEnds(record, plan, ran.outcomes);
		return ran;
	};
	const result = await run().finally(async () => await record?.close());
	const stopOnError = !continuesOnError(context);
	const { nextAt, ...found } = waveResult(
		plan,
		result,
		shift,
		record,
		stopOnError,
		wallClock.now(),
	);
	return {
		...found,
		stopped: false,
		wakeAt: nextAt ?? shortly(),
		sleepsFrom: wallClock.now(),
	};
}

/** The plan of an item whose generation is only fetched; its own plan if it has none. */
export function fetching(plan: Plan, rows: Map<string, Row>): Plan {
	const job = plan.job as CreateJob;
	const row = rowOf(rows, job);
	return row ? { ...plan, draft: job.draft, job: collecting(job, row, wallClock.now()) } : plan;
}
