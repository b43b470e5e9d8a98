import type { Memory } from '../../../client/jobs/memory';
import type { PipelineStats } from '../../../client/step/pipeline';
import { continuesOnError } from '../execution';
import type { Plan } from '../form/plan-items';
import { reportEnd } from '../output/report';
import { traceStep } from '../output/trace';
import { openRecord } from '../record/record';
import { runPlans, type StepStart } from '../run/run-plans';
import type { Step } from '../step';

/** What a wave leaves. */
interface Wave {
	memory: Memory;
	/** When the next wave begins, in milliseconds since the Unix epoch; `null` if the items have ended, or an error ended the step. */
	wakeAt: number | null;
	stats: PipelineStats;
}

/**
 * Runs one wave of a step that sleeps: the same run again. It reuses existing generations and creates the missing ones. It
 * ends once nothing is due soon.
 *
 * @param planned the valid items of the step
 * @param memory what earlier waves remember
 * @throws GenerationError `record_unavailable`
 */
export async function runWave(
	step: Step,
	planned: Plan[],
	memory: Memory,
	start: StepStart,
): Promise<Wave> {
	const open = planned
		.filter(({ job }) => memory.ends[job.itemIndex] === undefined)
		.map((plan) => ({ ...plan, download: null }));
	const jobs = open.map(({ job }) => job);
	// The rows of ended items are read, too: after a killed wave, only they show what these items have spent.
	const all = planned.map(({ job }) => job);
	const record = await openRecord(step, start.journal, all, memory);
	const running = runPlans(step, open, { ...start, memory, rests: true }, record);
	const ran = await running.finally(async () => await record?.close());
	traceStep(step, { ...ran, jobs });
	if (step.signal.aborted) reportEnd(step, 'Stopped', ran.outcomes);
	const isOver = ran.firstFailed !== null && !continuesOnError(step);
	return {
		memory: { ...(ran.memory ?? memory), unwritten: record?.unrecorded ?? [] },
		wakeAt: isOver ? null : ran.wakeAt,
		stats: ran.stats,
	};
}
