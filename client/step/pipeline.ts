import { onAbort } from '../async';
import type { ProbeUrl } from '../ports';
import { JobRun, type SharedByJobs } from './job-run';
import { fallbackOf, type Job } from '../jobs/job';
import { NOTHING_SPENT, type Memory, type Spent } from '../jobs/memory';
import { Rest } from '../jobs/rest';
import type { StepPorts } from '../jobs/step-ports';
import { thrownOutcome, type Outcome } from '../jobs/outcome';
import { isBeyondLimit, limitsCredits, SpendGuard, type SpendLimits } from '../orders/spend-guard';
import type { Journal } from '../orders/journal';
import type { SlotPool } from '../orders/slot-pool';
import { Submission } from '../orders/submission';
import { Watcher } from '../watch/watcher';
import { CancelledError } from '../api/errors';
import type { Generation } from '../api/generation';

/** Dependencies of the pipeline. */
export interface PipelinePorts<T> extends Omit<StepPorts, 'halt' | 'rest' | 'startedAt'> {
	journal: Journal;
	probe: ProbeUrl;
	/** The slots of the account, which other steps share. */
	slots: SlotPool;
	/** Reads the balance for the step's hint; `null` if it cannot be read. If omitted, the hint is not shown. */
	balance?: () => Promise<number | null>;
	/** Aborts on the user's Stop or the workflow's timeout. */
	cancel: AbortSignal;
	/** When the step began, if that was before this pipeline. */
	startedAt?: number;
	/** True if the run ends early (rests) once nothing is due soon. Jobs that have not ended get the outcome `stopped`. */
	rests?: boolean;
	/** Prepares a generation for output, such as by a download. `refresh` checks the status once more, for a new URL. */
	finish: (
		job: Job,
		generation: Generation,
		signal: AbortSignal,
		refresh: () => Promise<Generation>,
	) => Promise<{ generation: Generation; output: T | null }>;
}

export interface PipelineSettings extends SpendLimits {
	maxConcurrent: number;
	/** True if the first error ends the step. An item that a spending limit keeps back does not count as an error here. */
	stopOnError: boolean;
	/** Minimum time between two scheduled status checks of a generation. */
	pollIntervalMs: number;
}

export type PipelineStats = Submission['stats'] & {
	/** Includes `spentBefore`. */
	spent: Spent;
	statusRequests: number;
	/** Milliseconds during which the step waited for free slots. */
	slotWaitMs: number;
	/** The service's last message that no slot was free. It states how many generations run, and the plan's limit (spec 8). */
	slotRefusal: string | null;
	/** The balance before the first creating request and after the step; `null` if it is not known. */
	balance: { before: number; after: number } | null;
	/** Indexes of items that reuse the generation of their idempotency key although their request has changed. */
	changed: number[];
};

export interface PipelineResult<T> {
	/** One per job, in the order of the jobs. */
	outcomes: Array<Outcome<T>>;
	/** The job whose error came first; `null` if none failed. With `stopOnError`, its error ended the step. */
	firstFailed: Job | null;
	stats: PipelineStats;
	/** What the next run should know; `null` if the ports had no `memory`. The caller must update `unwritten`, `silences`. */
	memory: Memory | null;
	/** When the next run should begin, in milliseconds since the Unix epoch; `null` if this one does not rest. */
	wakeAt: number | null;
}

/** The row of the next order is written this long before a generation will probably end, and so free a slot. */
const EARLY_MS = 1_200;
/** Rows are written early only if generations take at most this long. Longer ones hide the time of a write. */
const SHORT_MS = 10_000;

/** One run of all jobs of a step. */
export class Pipeline<T> {
	/** Ends all waits: on cancel, before a sleep, or on the first error with `stopOnError`. */
	private readonly halt = new AbortController();
	/** Set if there is a spending limit, or the balance is shown. */
	private readonly guard?: SpendGuard;
	private readonly shared: SharedByJobs;
	private readonly rest?: Rest;
	private readonly runs: JobRun[];
	private begun = 0;
	private active = 0;
	private readonly finishing: Array<Promise<void>> = [];
	private readonly outcomes = new Map<Job, Outcome<T>>();
	private firstFailed: Job | null = null;

	constructor(
		private readonly jobs: Job[],
		private readonly ports: PipelinePorts<T>,
		private readonly settings: PipelineSettings,
	) {
		const halt = this.halt.signal;
		const { maxNewGenerations: most = null, spentBefore } = settings;
		if (most !== null || limitsCredits(settings) || ports.balance) {
			this.guard = new SpendGuard(settings, ports);
		}
		const { clock, journal, memory, random, slots, startedAt = clock.now() } = ports;
		if (memory && ports.rests) this.rest = new Rest(clock, random, memory);
		// After a sleep, the account may have no free slot, so the first requests are sent cautiously.
		if (memory && memory.restedAt > 0) slots.isLimited = true;
		const hasSent = memory?.restedAt || spentBefore?.requests;
		if (hasSent) ports.service.confirmBaseUrl();
		const shared = { ...ports, startedAt, halt, rest: this.rest };
		this.shared = {
			...shared,
			lateSeenAt: clock.now(),
			waits: { ...memory?.waits },
			submission: new Submission({ ...shared, guard: this.guard }),
			watcher: new Watcher(shared, settings.pollIntervalMs),
		};
		// Jobs that have a generation come first: a generation's slot counts as free only after a worker has seen it end.
		const isMade = (job: Job) => job.kind === 'create' && journal.paidFor(job) !== null;
		const ordered = memory ? [...jobs.filter(isMade), ...jobs.filter((job) => !isMade(job))] : jobs;
		this.runs = ordered.map((job) => new JobRun(job, this.shared));
	}

	/** Runs the jobs. An error of a job is in its outcome, and is never thrown. */
	async run(): Promise<PipelineResult<T>> {
		const { cancel, memory, slots } = this.ports;
		const { submission, watcher } = this.shared;
		const stop = () => this.halt.abort();
		const forget = onAbort(cancel, stop);
		const ended = new AbortController();
		void this.rest?.watch(() => this.active, stop, ended.signal);
		try {
			const workers = Math.min(this.settings.maxConcurrent, this.jobs.length);
			await Promise.all(Array.from({ length: workers }, async () => await this.work()));
			await Promise.all(this.finishing);
			await this.guard?.close(this.halt.signal);
		} finally {
			forget();
			ended.abort();
		}
		const balance = this.guard ? await this.balances(this.guard) : null;
		const outcomeOf = (job: Job) =>
			// A job that never started counts as stopped. The outcome names its generation, if an earlier run created one.
			this.outcomes.get(job) ?? new JobRun(job, this.shared).outcomeOf<T>(new CancelledError());
		return {
			outcomes: this.jobs.map(outcomeOf),
			firstFailed: this.firstFailed,
			memory: memory ? this.remembered(memory) : null,
			wakeAt: cancel.aborted ? null : (this.rest?.wakeAt ?? null),
			stats: {
				...submission.stats,
				retries: submission.stats.retries + watcher.transientErrors.size,
				statusRequests: watcher.sent,
				spent: this.spent,
				balance,
				slotWaitMs: submission.gate.waitedMs,
				slotRefusal: slots.lastRefusal?.serviceMessage ?? null,
				changed: [...submission.changed].sort((a, b) => a - b),
			},
		};
	}

	private get spent(): Spent {
		const before = this.settings.spentBefore ?? NOTHING_SPENT;
		const { made } = this.shared.submission.stats;
		return this.guard?.spent ?? { ...before, requests: before.requests + made };
	}

	/** What the next run of a step that may sleep should know. */
	private remembered(memory: Memory): Memory {
		const { clock } = this.ports;
		const { rest, spent } = this;
		const { submission, watcher } = this.shared;
		const ends = { ...memory.ends };
		for (const [{ itemIndex }, outcome] of this.outcomes) {
			if (outcome.kind !== 'stopped')
				ends[itemIndex] = outcome.kind === 'error' ? outcome.error.fields : null;
		}
		return {
			...memory,
			...(rest && { durations: rest.lastDurations, downSince: rest.downSince }),
			ends,
			waits: this.shared.waits,
			restedAt: clock.now(),
			heldUntil: Math.max(submission.hold.until, watcher.hold.until),
			spent,
		};
	}

	/** The balances for the step's hint. */
	private async balances({ balanceBefore: before }: SpendGuard): Promise<PipelineStats['balance']> {
		const { made } = this.shared.submission.stats;
		if (before === null || made === 0 || this.halt.signal.aborted) return null;
		const after = (await this.ports.balance?.()) ?? null;
		return after === null ? null : { before, after };
	}

	/** A worker: runs one job after another, until none is left or the step ends. */
	private async work(): Promise<void> {
		while (!this.halt.signal.aborted) {
			const run = this.runs.at(this.begun++);
			if (!run) return;
			this.active++;
			while (!(await this.tryOnce(run)));
			this.active--;
		}
	}

	/** Runs a job once, and starts `finish` without awaiting it. Returns false if the job must be tried again. */
	private async tryOnce(run: JobRun): Promise<boolean> {
		try {
			await run.begin();
			const ended = new AbortController();
			void this.claimNext(run, ended.signal);
			await run.wait().finally(() => ended.abort('settled'));
			const generation = run.result();
			if (fallbackOf(run.job) !== undefined) this.shared.submission.stats.fellBack++;
			this.finishing.push(this.finish(run, generation));
		} catch (error) {
			if (run.planNextTry(error)) return false;
			this.settle(run.job, run.outcomeOf(error));
		}
		return true;
	}

	/** Claims the next order shortly before a generation's likely end, so that no slot is idle while the table is written. */
	private async claimNext({ watch }: JobRun, ended: AbortSignal): Promise<void> {
		const { clock } = this.ports;
		const usual = this.shared.watcher.prober.lastAge ?? Infinity;
		if (usual > SHORT_MS || !watch) return;
		const at = watch.since + usual - Math.min(EARLY_MS, usual / 2);
		await clock.sleep(at - clock.now(), ended);
		if (ended.aborted) return;
		this.runs.slice(this.begun).some((run) => run.claimEarly());
	}

	/** Prepares a generation for output, such as by its download, and stores the outcome of its job. Never throws. */
	private async finish(run: JobRun, generation: Generation): Promise<void> {
		const { job } = run;
		const { signal } = this.halt;
		const { watcher } = this.shared;
		try {
			if (signal.aborted) throw new CancelledError();
			const refresh = async () => await watcher.refetch(generation.item.id);
			const { output, ...finished } = await this.ports.finish(job, generation, signal, refresh);
			const { item, leftOut } = finished.generation;
			this.settle(job, { kind: 'done', generation: item, output, ...(leftOut > 0 && { leftOut }) });
		} catch (error) {
			this.settle(job, thrownOutcome(run.explain(error), generation.item));
		}
	}

	private settle(job: Job, outcome: Outcome<T>): void {
		this.outcomes.set(job, outcome);
		if (outcome.kind !== 'error' || isBeyondLimit(outcome.error)) return;
		this.firstFailed ??= job;
		if (this.settings.stopOnError) this.halt.abort();
	}
}
