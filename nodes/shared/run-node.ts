import type { IExecuteFunctions, INodeExecutionData, NodeApiError } from 'n8n-workflow';

import { attempt, limit } from '../../client/async';
import type { GenerationError } from '../../client/api/errors';
import type { Job } from '../../client/job';
import { created, errorOfJob, type Outcome } from '../../client/outcome';
import type { ExecutionJournal } from '../../client/orders/execution-journal';
import type { SlotPool } from '../../client/orders/slot-pool';
import type { TableJournal } from '../../client/orders/table-journal';
import { runPipeline, type PipelineResult } from '../../client/pipeline';
import type { StatusChecks } from '../../client/watch/status-requests';
import { ServiceClient } from '../../client/api/client';
import { wallClock } from './http/clock';
import { cancelSignal, continuesOnError, journalOf, runsByHand } from './execution';
import { glanceAtBalance } from './http/balance';
import { stepError } from './output/node-error';
import { stepOptionsOf, type StepOptions } from './form/step-options';
import { MOST_OUTPUTS } from './form/fields';
import type { Plan } from './form/plan';
import { planItems, type Planned } from './form/plan-items';
import { keyOf, openRecord } from './record/record';
import { recordHint, reportEnd, reportUnexpected, summaryHint } from './output/report';
import { fetchOutput } from './output/fetch-output';
import { outputItems, type Output } from './output/results';
import { withSlots } from './http/slots';
import { connect, probeWith } from './http/transport';

/**
 * Maximum concurrent downloads. This fills a typical connection and limits memory where the storage buffers
 * whole files.
 */
const MAX_DOWNLOADS = 3;

/**
 * State that all items of a step share. It is read from n8n once: repeating this for thousands of invalid items
 * would take minutes.
 */
interface StepStart {
	options: StepOptions;
	journal: ExecutionJournal;
	startedAt: number;
	/** The step's last status check of each generation. */
	checks: StatusChecks;
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
	sleep: (checks: StatusChecks) => Promise<INodeExecutionData[][]>;
}

/** Run settings that only Wait for Completion uses. */
export interface StepTerms {
	/** Set if the step should suspend during a long wait. */
	suspension?: Suspension;
	/** The status checks of earlier runs of this wait. */
	checks?: StatusChecks;
}

/**
 * Runs a creating or waiting node. All items are validated before the first request. Then one pipeline
 * processes them. The output keeps their order and pairing, and follows the On Error setting.
 *
 * @param plan reads and validates one item's parameters, and returns a plan for each of its outputs; throws
 * `InvalidInputError`
 * @returns the items of the node's output
 * @throws NodeApiError that names the item, the cause and every generation that was charged
 */
export async function runNode(
	context: IExecuteFunctions,
	plan: (itemIndex: number) => Plan[],
	{ suspension, checks = new Map() }: StepTerms = {},
): Promise<INodeExecutionData[][]> {
	const plans = await planItems(context, plan);
	const journal = journalOf(context);
	const failures = plans.map((planned, itemIndex) =>
		planned.ok ? [] : unsentErrors(journal, planned.error, itemIndex),
	);
	reportUnexpected(context, failures.flat());
	throwFirst(context, journal, failures);

	const options = stepOptionsOf(context);
	const start: StepStart = { options, journal, startedAt: wallClock.now(), checks };
	const planned = plans.flatMap((plan) => (plan.ok ? plan.value : []));
	if (suspension && (await anyOutlasts(context, planned, failures, start, suspension))) {
		return await suspension.sleep(checks);
	}
	const record = await recordOf(context, journal, planned, failures);
	throwFirst(context, journal, failures);
	const valid = planned.filter(({ job }) => failures[job.itemIndex].length === 0);
	const running = runPlans(context, valid, start, record);
	const { outcomes, firstFailed, stats } = await running.finally(async () => await record?.close());
	recordHint(context, record, stats.changed, withoutKey(valid));
	const all = inOrder(failures, valid, outcomes);

	if (cancelSignal(context).aborted) {
		reportEnd(context, 'Stopped', all);
	} else if (firstFailed !== null && !continuesOnError(context)) {
		throw endedBy(context, journal, firstFailed, all);
	}
	summaryHint(context, stats, all);
	return [outputItems(context, all)];
}

/** The outcome of a job, with the item and the job that it belongs to. */
type JobOutcome = Outcome<Output> & { itemIndex: number; job?: Job };

/**
 * The outcomes of all outputs, in the order of the items.
 *
 * @param failures errors of items that were not run, by item
 * @param plans the plans that were run, in order
 * @param outcomes of these plans
 */
function inOrder(
	failures: GenerationError[][],
	plans: Planned[],
	outcomes: Array<Outcome<Output>>,
): JobOutcome[] {
	const all = failures.map((errors, itemIndex) =>
		errors.map((error): JobOutcome => ({ kind: 'error', error, itemIndex })),
	);
	plans.forEach(({ job }, index) => {
		all[job.itemIndex].push({ ...outcomes[index], itemIndex: job.itemIndex, job });
	});
	return all.flat();
}

/**
 * The error that stops a step because one job failed.
 *
 * @param all the outcomes of all outputs, in order
 */
function endedBy(
	context: IExecuteFunctions,
	journal: ExecutionJournal,
	failed: Job,
	all: JobOutcome[],
): NodeApiError {
	const position = all.findIndex(({ job }) => job === failed);
	const { error } = all[position] as Extract<Outcome<Output>, { kind: 'error' }>;
	reportEnd(context, `Failed (${error.message})`, all);
	return stepError(context, error, position, all, journal);
}

/** The items with an empty Idempotency Key option. */
function withoutKey(plans: Planned[]): number[] {
	const items = plans.filter(({ keyIsEmpty }) => keyIsEmpty).map(({ job }) => job.itemIndex);
	return [...new Set(items)];
}

/**
 * The errors of an item that this try does not send. Earlier tries may have been charged for its outputs: there is
 * one error for each of them, or else a single one.
 */
function unsentErrors(
	journal: ExecutionJournal,
	error: unknown,
	itemIndex: number,
): GenerationError[] {
	const paid = Array.from({ length: MOST_OUTPUTS }, (_, outputIndex) =>
		journal.paidBy({ itemIndex, outputIndex }, null),
	).filter((generation) => generation !== null);
	return (paid.length > 0 ? paid : [null]).map((known) => errorOfJob(error, created(known)));
}

/** @throws NodeApiError if an item failed before any request was sent and On Error does not continue */
function throwFirst(
	context: IExecuteFunctions,
	journal: ExecutionJournal,
	failures: GenerationError[][],
): void {
	const first = failures.findIndex((errors) => errors.length > 0);
	if (first < 0 || continuesOnError(context)) return;
	throw stepError(context, failures[first][0], first, [], journal);
}

/** Reserves the idempotency keys. If the table is unavailable, each item with a key fails with that error. */
async function recordOf(
	context: IExecuteFunctions,
	journal: ExecutionJournal,
	planned: Planned[],
	failures: GenerationError[][],
): Promise<TableJournal | null> {
	const jobs = planned.map(({ job }) => job);
	const opened = await attempt(async () => await openRecord(context, journal, jobs));
	if (opened.ok) return opened.value;
	// After a stop no request is sent, and the execution must end as stopped rather than failed.
	if (cancelSignal(context).aborted) return null;
	for (const job of jobs) {
		if (keyOf(job) === null) continue;
		failures[job.itemIndex] = unsentErrors(journal, opened.error, job.itemIndex);
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
	failures: GenerationError[][],
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
		throw endedBy(context, start.journal, firstFailed, inOrder(failures, brief, outcomes));
	}
	return outcomes.some(
		(outcome, index) => maySleep[index] && outcome.kind === 'done' && outcome.generation.timed_out,
	);
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
	const service = new ServiceClient({
		...ports,
		send: connect(context),
		signal: cancel,
	});
	const tellsBalance = runsByHand(context) || (options.minimumBalance ?? null) !== null;
	const limited = limit(MAX_DOWNLOADS);
	const run = async (slots: SlotPool) =>
		await runPipeline<Output>(
			plans.map(({ job }) => job),
			{
				...ports,
				service,
				probe: probeWith(context),
				balance: tellsBalance ? async () => await glanceAtBalance(context) : undefined,
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
