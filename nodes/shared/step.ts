import type { IExecuteFunctions, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { attempt, type Attempt } from '../../client/basics/attempt';
import { limit } from '../../client/basics/limit';
import type { GenerationError } from '../../client/wire/errors';
import { isCompleted, type Generation } from '../../client/wire/generation';
import type { CollectJob, CreateJob, Job } from '../../client/jobs/job';
import { errorOfJob, type Outcome } from '../../client/jobs/outcome';
import type { GenerationRecord } from '../../client/paying/record';
import type { Slots } from '../../client/paying/slots';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import type { LastLooks } from '../../client/watching/looks';
import { GenerationService } from '../../client/wire/service';
import { wallClock } from './clock';
import { download, type DownloadRequest } from './download';
import { cancelSignal, continuesOnError, ledgerOf, runsAsTool } from './execution';
import { stepError } from './node-error';
import { recipeOf, stepOptions, type DownloadTarget, type StepOptions } from './parameters';
import { keyOf, openRecord } from './record';
import { recordHint, reportEnd, reportUnexpected, summaryHint } from './report';
import { outputItems, type Output } from './results';
import { withSlots } from './slots';
import { connect, probeWith } from './transport';

/** Downloads at once: enough to fill a line, few enough for the memory of storages that buffer. */
const MAX_DOWNLOADS = 3;

/** Items whose parameters are read before others have their turn: n8n evaluates some thousands in a second. */
const READ_AT_ONCE = 50;

/** What one item asks for, checked. */
export interface Plan {
	job: Omit<CreateJob, 'itemIndex' | 'recipe'> | Omit<CollectJob, 'itemIndex'>;
	/** `null`: hand on JSON only. */
	download: DownloadTarget | null;
	step: StepOptions;
	/** Whether the option Idempotency Key is there, and came to no key. */
	keyIsEmpty?: boolean;
}

interface Planned extends Plan {
	job: Job;
}

/** What all that runs in a step shares: when it began, and which statuses it has asked for. */
interface Begun {
	startedAt: number;
	looks: LastLooks;
}

/** How a step that waits for long lets go of its worker. */
export interface Suspension {
	/** What ends before this is waited for in the step. */
	afterMs: number;
	/** Puts the execution to sleep; what it returns is handed on where there was no need to. */
	sleep: () => Promise<INodeExecutionData[][]>;
}

/**
 * Runs a generating or waiting node: all items are checked before anything is sent, then taken through one pipeline,
 * and come out in their order, paired, as On Error asks.
 *
 * @param plan reads and checks one item's parameters; throws `InvalidInputError`
 * @param suspension given where the step is to sleep rather than to wait for long
 * @throws NodeApiError that names the item, the cause and everything that was paid for
 */
export async function runStep(
	context: IExecuteFunctions,
	plan: (itemIndex: number) => Plan,
	suspension?: Suspension,
): Promise<INodeExecutionData[][]> {
	const plans = await planItems(context, plan);
	const failures = plans.map((planned, itemIndex) =>
		planned.ok ? null : unsentError(context, planned.error, itemIndex),
	);
	reportUnexpected(context, failures);
	throwFirst(context, failures);

	const begun: Begun = { startedAt: wallClock.now(), looks: new Map() };
	const planned = plans.flatMap((plan) => (plan.ok ? [plan.value] : []));
	if (suspension && (await anyOutlasts(context, planned, begun, suspension.afterMs))) {
		return await suspension.sleep();
	}
	const record = await recordOf(context, planned, failures);
	throwFirst(context, failures);
	const valid = planned.filter(({ job }) => failures[job.itemIndex] === null);
	const running = runPlans(context, valid, begun, record);
	const { outcomes, firstFailed, stats } = await running.finally(async () => await record?.close());
	recordHint(context, record, stats.changed, withoutKey(valid));
	const ran = new Map(valid.map(({ job }, index) => [job.itemIndex, outcomes[index]]));
	const all = failures.map((error, index) =>
		error === null ? (ran.get(index) as Outcome<Output>) : { kind: 'error' as const, error },
	);

	if (cancelSignal(context).aborted) {
		reportEnd(context, 'Stopped', all);
	} else if (firstFailed !== null && !continuesOnError(context)) {
		throw endedBy(context, firstFailed, all);
	}
	summaryHint(context, stats, all);
	return [outputItems(context, all)];
}

/** The error of a step that the error of one job ends. @param all the outcomes of all items, in their order */
function endedBy(
	context: IExecuteFunctions,
	{ itemIndex }: Job,
	all: Array<Outcome<Output>>,
): NodeApiError {
	const { error } = all[itemIndex] as Extract<Outcome<Output>, { kind: 'error' }>;
	reportEnd(context, `Failed (${error.message})`, all);
	return stepError(context, error, itemIndex, all, ledgerOf(context));
}

/** The items that have the option Idempotency Key, and no key in it. */
function withoutKey(plans: Planned[]): number[] {
	return plans.filter(({ keyIsEmpty }) => keyIsEmpty).map(({ job }) => job.itemIndex);
}

/** The error of an item for which this try sends nothing. An earlier one may have paid for it. */
function unsentError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): GenerationError {
	return errorOfJob(error, ledgerOf(context).paidBy(itemIndex, null));
}

/** @throws NodeApiError where an item has failed before anything was sent, and the step does not go on without it */
function throwFirst(context: IExecuteFunctions, failures: Array<GenerationError | null>): void {
	const first = failures.findIndex((failure) => failure !== null);
	if (first < 0 || continuesOnError(context)) return;
	throw stepError(context, failures[first] as GenerationError, first, [], ledgerOf(context));
}

/** The record of the items that have a key. Where it cannot be had, each of them has that as its failure. */
async function recordOf(
	context: IExecuteFunctions,
	planned: Planned[],
	failures: Array<GenerationError | null>,
): Promise<GenerationRecord | null> {
	const jobs = planned.map(({ job }) => job);
	const opened = await attempt(async () => await openRecord(context, jobs));
	if (opened.ok) return opened.value;
	// Nothing is sent any more, and the stopped execution is to end as such.
	if (cancelSignal(context).aborted) return null;
	for (const job of jobs) {
		if (keyOf(job) === null) continue;
		failures[job.itemIndex] = unsentError(context, opened.error, job.itemIndex);
	}
	return null;
}

/**
 * Waits for so long, and tells whether anything is still running then that has time left.
 *
 * @throws NodeApiError as the step itself does: there is nothing to sleep for
 */
async function anyOutlasts(
	context: IExecuteFunctions,
	plans: Planned[],
	begun: Begun,
	afterMs: number,
): Promise<boolean> {
	const patient = plans.filter(({ job }) => job.timeoutMs > afterMs);
	const brief = patient.map((planned) => ({
		...planned,
		job: { ...planned.job, timeoutMs: afterMs, onTimeout: 'continue' as const },
		download: null,
	}));
	const { outcomes, firstFailed } = await runPlans(context, brief, begun);
	if (cancelSignal(context).aborted) return false;
	if (firstFailed !== null && !continuesOnError(context)) {
		const all: Array<Outcome<Output>> = [];
		for (const { job } of plans) {
			const generation = job.kind === 'collect' ? { id: job.id } : null;
			all[job.itemIndex] = { kind: 'stopped', generation };
		}
		brief.forEach(({ job }, index) => (all[job.itemIndex] = outcomes[index]));
		throw endedBy(context, firstFailed, all);
	}
	return outcomes.some((outcome) => outcome.kind === 'done' && outcome.generation.timed_out);
}

/** Reads and checks all items, in their order. */
async function planItems(
	context: IExecuteFunctions,
	plan: (itemIndex: number) => Plan,
): Promise<Array<Attempt<Planned>>> {
	const tool = runsAsTool(context);
	const plans: Array<Attempt<Planned>> = [];
	for (const itemIndex of context.getInputData().keys()) {
		if (itemIndex > 0 && itemIndex % READ_AT_ONCE === 0) await wallClock.sleep(0);
		const planned = await attempt(async () => {
			const { job, ...rest } = plan(itemIndex);
			const recipe = () => recipeOf(context, itemIndex);
			return {
				...rest,
				job: job.kind === 'create' ? { ...job, itemIndex, recipe } : { ...job, itemIndex },
				download: tool ? null : rest.download,
			};
		});
		plans.push(planned);
	}
	return plans;
}

async function runPlans(
	context: IExecuteFunctions,
	plans: Planned[],
	begun: Begun,
	record: GenerationRecord | null = null,
): Promise<PipelineResult<Output>> {
	// What holds for the whole step is read from its first item.
	const { maxConcurrent, pollIntervalMs } = plans[0]?.step ?? stepOptions({});
	const cancel = cancelSignal(context);
	const planOf = new Map(plans.map((planned) => [planned.job, planned]));
	const ports = { clock: wallClock, random: Math.random };
	const service = new GenerationService({
		...ports,
		send: connect(context),
		signal: cancel,
	});
	const limited = limit(MAX_DOWNLOADS);
	const run = async (slots: Slots) =>
		await runPipeline<Output>(
			plans.map(({ job }) => job),
			{
				...ports,
				service,
				probe: probeWith(context),
				slots,
				cancel,
				ledger: ledgerOf(context),
				record,
				...begun,
				finish: async (job, generation, signal, refresh) =>
					await fetchOutput(context, planOf.get(job) as Planned, {
						generation,
						signal,
						refresh,
						limited,
					}),
			},
			{
				maxConcurrent,
				pollIntervalMs,
				stopOnError: !continuesOnError(context),
			},
		);
	const result = await withSlots(context, run);
	reportUnexpected(
		context,
		result.outcomes.map((outcome) => (outcome.kind === 'error' ? outcome.error : null)),
	);
	return result;
}

async function fetchOutput(
	context: IExecuteFunctions,
	{ download: target }: Planned,
	finished: Pick<DownloadRequest, 'generation' | 'signal' | 'refresh' | 'limited'>,
): Promise<{ generation: Generation; output: Output | null }> {
	const { generation } = finished;
	if (target === null || !isCompleted(generation)) return { generation, output: null };
	const { id, model } = generation.item;
	const fetched = await download(context, {
		...finished,
		fileName: target.fileName ?? [model, id].filter(Boolean).join('-'),
	});
	return {
		generation: fetched.generation,
		output: { propertyName: target.propertyName, binary: fetched.binary },
	};
}
