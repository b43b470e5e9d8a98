import type { INodeExecutionData } from 'n8n-workflow';

import { GenerationError, type KnownGeneration } from '../../../client/api/errors';
import { toResult, type Result } from '../../../client/async';
import { errorOfJob } from '../../../client/jobs/outcome';
import { sentences } from '../../../client/text';
import type { Plan } from '../form/plan-items';
import { openRecord } from '../record/record';
import { runToEnd } from '../run/run-node';
import { startOf } from '../run/run-plans';
import type { Step } from '../step';
import type { SleepState } from './state';

/**
 * Fetches the results of a step after its sleep: runs its items once more, with downloads, but creates no generation.
 *
 * @returns the output items
 * @throws NodeApiError that names the item, the cause and every charged generation
 */
export async function fetchResults(
	step: Step,
	plans: Array<Result<Plan[]>>,
	{ memory }: SleepState,
): Promise<INodeExecutionData[][]> {
	const failures = plans.map((plan, itemIndex) => {
		const end = memory.ends[itemIndex];
		// An item whose charge is unknown runs again: the ID of its generation may be in the data table by now.
		if (end && end.charge !== 'unknown') return [new GenerationError(end)];
		return plan.ok ? [] : [rejectedAfterSleep(plan.error)];
	});
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	const reported = new Set(plans.flatMap((_, index) => (memory.ends[index] ? index : [])));
	const started = startOf(step);
	const start = { ...started, memory, creationBan: notSentBefore(), reported };
	return await runToEnd(step, start, planned, failures);
}

/** The error of an item that was valid before the sleep, but is rejected now: the package was updated during the sleep. */
function rejectedAfterSleep(thrown: unknown): GenerationError {
	const details = 'The item was valid before the sleep, and may have been charged';
	return errorOfJob(thrown, null).with({ charge: 'unknown', details });
}

/** The error of an item without a generation: the sleeping batch ended before this item could create one. */
function notSentBefore(): GenerationError {
	return new GenerationError({
		title: 'The sleeping batch ended before this item was created',
		description: 'Run the same items again: charged generations are reused.',
		code: 'batch_interrupted',
	});
}

/**
 * The errors of all items of a step that is given up. An item that already has an error keeps that one. Any other item gets
 * `error`, with the item's generation if there is one.
 *
 * @param step the step that sleeps, from `stepOf`
 */
export async function lastKnown(
	step: Step,
	plans: Array<Result<Plan[]>>,
	{ memory }: SleepState,
	error: GenerationError,
): Promise<GenerationError[]> {
	const { journal } = startOf(step);
	const jobs = plans.flatMap((plan) => (plan.ok ? plan.value.map(({ job }) => job) : []));
	const opened = await toResult(async () => await openRecord(step, journal, jobs, memory));
	const record = opened.ok ? opened.value : null;
	await record?.close();
	const generations = plans.map((plan): KnownGeneration | null => {
		const job = plan.ok ? plan.value[0].job : null;
		if (job?.kind !== 'collect') return job && (record?.paidFor(job) ?? null);
		return { id: job.id, status: job.id in memory.waits ? 'processing' : null };
	});
	const named = new Set(generations.map((generation) => generation?.id));
	// Running generations that cannot be assigned to an item, because the data table cannot be read or their rows are missing.
	const others = Object.keys(memory.waits).filter((id) => !named.has(id));
	const details = sentences(error.details, `Generations that were running: ${others.join(', ')}`);
	const known = others.length === 0 ? error : error.with({ details });
	return generations.map((generation, itemIndex) => {
		const end = memory.ends[itemIndex];
		if (end) return new GenerationError(end);
		if (generation === null) return known;
		return known.with({ charge: generation.status ? 'paid' : known.charge, generation });
	});
}
