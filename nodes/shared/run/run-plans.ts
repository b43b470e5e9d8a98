import { limit, toResult, withTimeout } from '../../../client/async';
import { Hold } from '../../../client/api/hold';
import type { GenerationError } from '../../../client/api/errors';
import { NOTHING_SPENT, type Memory, type Spent } from '../../../client/jobs/memory';
import type { Journal } from '../../../client/orders/journal';
import type { SlotPool } from '../../../client/orders/slot-pool';
import { limitsCredits } from '../../../client/orders/spend-guard';
import type { TableJournal } from '../../../client/orders/table-journal';
import { Pipeline, type PipelineResult, type PipelineStats } from '../../../client/step/pipeline';
import { continuesOnError, debugLog, journalOf, runsAsTool, runsByHand } from '../execution';
import type { Plan } from '../form/plan-items';
import { stepOptionsOf, type StepOptions } from '../form/step-options';
import { requestClock, wallClock } from '../http/clock';
import { withSlots } from '../http/slots';
import { probeWith, serviceOf, type FileSizes } from '../http/transport';
import { fetchOutput } from '../output/fetch-output';
import { reportUnexpected } from '../output/report';
import type { Output } from '../output/results';
import type { Step } from '../step';

/** Maximum concurrent downloads: enough to fill a typical connection, but few, because n8n may keep files in memory. */
const MAX_DOWNLOADS = 3;

/**
 * State that all items of a step share. It is read from n8n only once, because reading it again for each of thousands of
 * items would take minutes.
 */
export interface StepStart {
	options: StepOptions;
	journal: Journal;
	startedAt: number;
	/** Set if the step has slept or may sleep: what its earlier runs remember. */
	memory?: Memory;
	/** True if the run ends once nothing is due soon, so that the step can sleep. */
	rests?: boolean;
	/** Set if this run may only fetch existing generations. Each item without a generation then gets this error. */
	creationBan?: GenerationError;
	/** After a sleep: the indexes of items whose errors an earlier run has traced, so that they are not traced twice. */
	reported?: ReadonlySet<number>;
	/** The counters of the step's earlier run in the same execution. Hints show the sum of both runs. */
	before?: PipelineStats;
}

/** Returns the state with which a step starts, or continues in a helper execution after a sleep. Never throws. */
export function startOf(step: Step): StepStart {
	return {
		options: stepOptionsOf(step),
		journal: journalOf(step),
		startedAt: wallClock.now(),
	};
}

/**
 * What earlier attempts of a step have spent: all attempts of Retry On Fail share one spending limit. The key is
 * `Journal.ordersOfRun`, an object that n8n keeps in memory between attempts.
 */
const spentIn = new WeakMap<object, Spent>();

/** What earlier attempts of a step have spent. */
export function spentBy({ ordersOfRun }: Journal): Spent {
	return spentIn.get(ordersOfRun) ?? NOTHING_SPENT;
}

/** Adds up the counters of two runs of one step, the earlier one first. */
export function addStats(earlier: PipelineStats, later: PipelineStats): PipelineStats {
	const { balance } = earlier;
	return {
		// The counters that are not added below come from the later run, which has counted them for all items again.
		...later,
		made: earlier.made + later.made,
		retries: earlier.retries + later.retries,
		resubmitted: earlier.resubmitted + later.resubmitted,
		recreated: earlier.recreated + later.recreated,
		statusRequests: earlier.statusRequests + later.statusRequests,
		slotWaitMs: earlier.slotWaitMs + later.slotWaitMs,
		slotRefusal: later.slotRefusal ?? earlier.slotRefusal,
		balance:
			balance && later.balance
				? { ...later.balance, before: balance.before }
				: (later.balance ?? balance),
		changed: [...new Set([...earlier.changed, ...later.changed])].sort((a, b) => a - b),
	};
}

/** Maximum time for a balance that is only shown in a hint, in milliseconds. */
const BALANCE_TIMEOUT_MS = 3_000;

/** Reads the balance for a hint (spec 4.5), once and without retries. */
async function glanceAtBalance(step: Step): Promise<number | null> {
	const read = async (signal: AbortSignal) =>
		(await serviceOf(step, { signal, maxRetries: 0 }).balance()).balance;
	const found = await toResult(
		async () => await withTimeout(requestClock, BALANCE_TIMEOUT_MS, step.signal, read),
	);
	return found.ok ? found.value : null;
}

/** Runs the jobs of valid items. */
export async function runPlans(
	step: Step,
	plans: Plan[],
	start: StepStart,
	record: TableJournal | null,
): Promise<PipelineResult<Output>> {
	// In a tool, the error of one output does not stop the others.
	const stopOnError = !continuesOnError(step) && !runsAsTool(step);
	const { options, ...shared } = start;
	const { journal, memory } = shared;
	// If an earlier run of a sleeping step was killed, `memory` lacks that run's requests: `sentByStep` counts their rows.
	const { spent: before = spentBy(journal) } = memory ?? {};
	const requests = Math.max(before.requests, record?.sentByStep ?? 0);
	const credits = before.credits + (requests - before.requests) * before.price;
	const planOf = new Map(plans.map((planned) => [planned.job, planned]));
	const tellsBalance = runsByHand(step) || limitsCredits(options);
	const limited = limit(MAX_DOWNLOADS);
	const hold = new Hold(wallClock);
	const sizes: FileSizes = new Map();
	const run = async (slots: SlotPool) =>
		await new Pipeline<Output>(
			plans.map(({ job }) => job),
			{
				clock: wallClock,
				random: Math.random,
				service: serviceOf(step),
				probe: probeWith(step, sizes),
				balance: tellsBalance ? async () => await glanceAtBalance(step) : undefined,
				slots,
				cancel: step.signal,
				debug: debugLog(step),
				...shared,
				journal: record ?? journal,
				finish: async (job, generation, signal, refresh) =>
					await fetchOutput(step, planOf.get(job) as Plan, {
						generation,
						signal,
						refresh,
						limited,
						hold,
						sizes,
					}),
			},
			{
				...options,
				spentBefore: { ...before, requests, credits },
				stopOnError,
			},
		).run();
	const result = await withSlots(step, run);
	spentIn.set(journal.ordersOfRun, result.stats.spent);
	reportUnexpected(
		step,
		result.outcomes.map((outcome) => (outcome.kind === 'error' ? outcome.error : null)),
	);
	return result;
}
