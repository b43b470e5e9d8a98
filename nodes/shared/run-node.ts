import type { IExecuteFunctions, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { attempt, type Attempt } from '../../client/basics/attempt';
import { limit } from '../../client/basics/limit';
import type { GenerationError } from '../../client/wire/errors';
import { isCompleted, type Generation } from '../../client/wire/generation';
import type { Job } from '../../client/jobs/job';
import { created, errorOfJob, type Outcome } from '../../client/jobs/outcome';
import type { ExecutionJournal } from '../../client/orders/execution-journal';
import type { SlotPool } from '../../client/orders/slot-pool';
import type { TableJournal } from '../../client/orders/table-journal';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import type { LastLooks } from '../../client/watching/looks';
import { GenerationService } from '../../client/wire/service';
import { wallClock } from './http/clock';
import { download, type DownloadRequest } from './http/download';
import { cancelSignal, continuesOnError, journalOf, runsAsTool } from './execution';
import { stepError } from './output/node-error';
import { recipeOf, stepOptionsOf, type StepOptions } from './form/parameters';
import type { Plan } from './form/plan';
import { keyOf, openRecord } from './record/record';
import { recordHint, reportEnd, reportUnexpected, summaryHint } from './output/report';
import { outputItems, type Output } from './output/results';
import { withSlots } from './http/slots';
import { connect, probeWith } from './http/transport';

/**
 * Maximum concurrent downloads. This fills a typical connection and limits memory where the storage buffers
 * whole files.
 */
const MAX_DOWNLOADS = 3;

/** Items to read before yielding to the event loop. n8n evaluates a few thousand items per second. */
const READ_AT_ONCE = 50;

interface Planned extends Plan {
	job: Job;
}

/**
 * State that all items of a step share. It is read from n8n once: repeating this for thousands of invalid items
 * would take minutes.
 */
interface StepStart {
	options: StepOptions;
	journal: ExecutionJournal;
	startedAt: number;
	/** The step's last status check of each generation. */
	looks: LastLooks;
}

/** How a step suspends its execution during a long wait. */
export interface Suspension {
	/** Milliseconds to poll before suspending. */
	afterMs: number;
	/**
	 * The shortest timeout, in milliseconds, that leaves time to suspend. Items with a shorter timeout are
	 * polled.
	 */
	leastTimeoutMs: number;
	/** Suspends the execution. Its output is returned by the step if the execution did not have to sleep. */
	sleep: (looks: LastLooks) => Promise<INodeExecutionData[][]>;
}

/** Run settings that only Wait for Completion uses. */
export interface StepTerms {
	/** Set if the step should suspend during a long wait. */
	suspension?: Suspension;
	/** The status checks of earlier runs of this wait. */
	looks?: LastLooks;
}

/**
 * Runs a creating or waiting node. All items are validated before the first request. Then one pipeline
 * processes them. The output keeps their order and pairing, and follows the On Error setting.
 *
 * @param plan reads and validates one item's parameters; throws `InvalidInputError`
 * @returns the items of the node's output
 * @throws NodeApiError that names the item, the cause and every generation that was charged
 */
export async function runNode(
	context: IExecuteFunctions,
	plan: (itemIndex: number) => Plan,
	{ suspension, looks = new Map() }: StepTerms = {},
): Promise<INodeExecutionData[][]> {
	const plans = await planItems(context, plan);
	const journal = journalOf(context);
	const failures = plans.map((planned, itemIndex) =>
		planned.ok ? null : unsentError(journal, planned.error, itemIndex),
	);
	reportUnexpected(context, failures);
	throwFirst(context, journal, failures);

	const options = stepOptionsOf(context);
	const start: StepStart = { options, journal, startedAt: wallClock.now(), looks };
	const planned = plans.flatMap((plan) => (plan.ok ? [plan.value] : []));
	if (suspension && (await anyOutlasts(context, planned, start, suspension))) {
		return await suspension.sleep(looks);
	}
	const record = await recordOf(context, journal, planned, failures);
	throwFirst(context, journal, failures);
	const valid = planned.filter(({ job }) => failures[job.itemIndex] === null);
	const running = runPlans(context, valid, start, record);
	const { outcomes, firstFailed, stats } = await running.finally(async () => await record?.close());
	recordHint(context, record, stats.changed, withoutKey(valid));
	const ran = new Map(valid.map(({ job }, index) => [job.itemIndex, outcomes[index]]));
	const all = failures.map((error, index) =>
		error === null ? (ran.get(index) as Outcome<Output>) : { kind: 'error' as const, error },
	);

	if (cancelSignal(context).aborted) {
		reportEnd(context, 'Stopped', all);
	} else if (firstFailed !== null && !continuesOnError(context)) {
		throw endedBy(context, journal, firstFailed, all);
	}
	summaryHint(context, stats, all);
	return [outputItems(context, all)];
}

/**
 * The error that stops a step because one job failed.
 *
 * @param all the outcomes of all items, in order
 */
function endedBy(
	context: IExecuteFunctions,
	journal: ExecutionJournal,
	{ itemIndex }: Job,
	all: Array<Outcome<Output>>,
): NodeApiError {
	const { error } = all[itemIndex] as Extract<Outcome<Output>, { kind: 'error' }>;
	reportEnd(context, `Failed (${error.message})`, all);
	return stepError(context, error, itemIndex, all, journal);
}

/** The items with an empty Idempotency Key option. */
function withoutKey(plans: Planned[]): number[] {
	return plans.filter(({ keyIsEmpty }) => keyIsEmpty).map(({ job }) => job.itemIndex);
}

/** The error of an item that this try does not send. An earlier try may have been charged for it. */
function unsentError(
	journal: ExecutionJournal,
	error: unknown,
	itemIndex: number,
): GenerationError {
	return errorOfJob(error, created(journal.paidBy({ itemIndex }, null)));
}

/** @throws NodeApiError if an item failed before any request was sent and On Error does not continue */
function throwFirst(
	context: IExecuteFunctions,
	journal: ExecutionJournal,
	failures: Array<GenerationError | null>,
): void {
	const first = failures.findIndex((failure) => failure !== null);
	if (first < 0 || continuesOnError(context)) return;
	throw stepError(context, failures[first] as GenerationError, first, [], journal);
}

/** Reserves the idempotency keys. If the table is unavailable, each item with a key fails with that error. */
async function recordOf(
	context: IExecuteFunctions,
	journal: ExecutionJournal,
	planned: Planned[],
	failures: Array<GenerationError | null>,
): Promise<TableJournal | null> {
	const jobs = planned.map(({ job }) => job);
	const opened = await attempt(async () => await openRecord(context, journal, jobs));
	if (opened.ok) return opened.value;
	// After a stop no request is sent, and the execution must end as stopped rather than failed.
	if (cancelSignal(context).aborted) return null;
	for (const job of jobs) {
		if (keyOf(job) === null) continue;
		failures[job.itemIndex] = unsentError(journal, opened.error, job.itemIndex);
	}
	return null;
}

/**
 * Polls until it is time to suspend.
 *
 * @returns true if a generation is still running and its item may suspend
 * @throws NodeApiError as the step itself does, if an error stops the step first
 */
async function anyOutlasts(
	context: IExecuteFunctions,
	plans: Planned[],
	start: StepStart,
	{ afterMs, leastTimeoutMs }: Suspension,
): Promise<boolean> {
	const maySleep = plans.map(({ job }) => job.timeoutMs >= leastTimeoutMs);
	if (!maySleep.includes(true)) return false;
	const brief = plans.map(({ job, ...planned }) => ({
		...planned,
		job: { ...job, timeoutMs: Math.min(job.timeoutMs, afterMs), onTimeout: 'continue' as const },
		download: null,
	}));
	const { outcomes, firstFailed } = await runPlans(context, brief, start);
	if (cancelSignal(context).aborted) return false;
	if (firstFailed !== null && !continuesOnError(context)) {
		const all: Array<Outcome<Output>> = [];
		brief.forEach(({ job }, index) => (all[job.itemIndex] = outcomes[index]));
		throw endedBy(context, start.journal, firstFailed, all);
	}
	return outcomes.some(
		(outcome, index) => maySleep[index] && outcome.kind === 'done' && outcome.generation.timed_out,
	);
}

/** Reads and validates all items, in order. */
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
	start: StepStart,
	record: TableJournal | null = null,
): Promise<PipelineResult<Output>> {
	const { options, ...shared } = start;
	const cancel = cancelSignal(context);
	const planOf = new Map(plans.map((planned) => [planned.job, planned]));
	const ports = { clock: wallClock, random: Math.random };
	const service = new GenerationService({
		...ports,
		send: connect(context),
		signal: cancel,
	});
	const limited = limit(MAX_DOWNLOADS);
	const run = async (slots: SlotPool) =>
		await runPipeline<Output>(
			plans.map(({ job }) => job),
			{
				...ports,
				service,
				probe: probeWith(context),
				slots,
				cancel,
				...shared,
				journal: record ?? shared.journal,
				finish: async (job, generation, signal, refresh) =>
					await fetchOutput(context, planOf.get(job) as Planned, {
						generation,
						signal,
						refresh,
						limited,
					}),
			},
			{
				...options,
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
