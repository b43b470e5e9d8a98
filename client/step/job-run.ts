import { toResult, withLock } from '../async';
import {
	decideNextTry,
	explainTries,
	type CollectJob,
	type CreateJob,
	type Job,
} from '../jobs/job';
import type { Memory } from '../jobs/memory';
import type { StepPorts } from '../jobs/step-ports';
import {
	errorOfEnd,
	failedGeneration,
	thrownOutcome,
	timedOutGeneration,
	type Outcome,
} from '../jobs/outcome';
import type { Journal } from '../orders/journal';
import { orderOf, type Order } from '../orders/order';
import type { SlotPool } from '../orders/slot-pool';
import { requestFields } from '../orders/table';
import type { Submission } from '../orders/submission';
import { uncertainCharge } from '../orders/order-errors';
import { Watch } from '../watch/watch';
import type { Watcher } from '../watch/watcher';
import { GenerationError, type KnownGeneration } from '../api/errors';
import { isFailed, isFinal, lacksOutput, unseen, type Generation } from '../api/generation';

/** A `collect` job may retry its first status check until this long after its deadline or any job's later success. */
const LATE_CHECK_GRACE_MS = 10_000;
/** A job with less time left than this checks its generation at once, so that the check comes before the deadline. */
const LEAST_LEFT_MS = 1_000;
/** Like `LATE_CHECK_GRACE_MS`, but for every job after a sleep. Long enough for all retries of a first status check. */
const AFTER_SLEEP_MS = 100_000;

/** Shared by all jobs of one run. */
export interface SharedByJobs extends StepPorts {
	/** When a job's `checkOnce` last succeeded, whichever job it was. Initially, when the pipeline started. */
	lateSeenAt: number;
	/** The generations that have not ended: by id, since when the step waits for each of them. */
	waits: Memory['waits'];
	journal: Journal;
	/** The slots of the account, which other steps share. */
	slots: SlotPool;
	submission: Submission;
	watcher: Watcher;
}

/** One job: `begin` finds or creates its generation, `wait` watches it, and `result` returns it or throws its error. */
export class JobRun {
	/** What the job asks for; `null` for a job that creates nothing, and until `ownOrder` is first called. */
	private order: Order | null = null;
	/** `null` before there is a generation to watch. */
	watch: Watch | null = null;
	/** When the wait for the generation times out; `Infinity` before there is a generation. */
	deadline = Infinity;
	/** True if this step has created the generation. */
	isOwn = false;
	/** True if the next generation of the job replaces a failed one. */
	private replacesFailed = false;

	constructor(
		readonly job: Job,
		private readonly shared: SharedByJobs,
	) {}

	/** The last known state of the job's generation; `null` if no generation of the job is known. */
	get known(): KnownGeneration | null {
		const { job, shared, watch } = this;
		if (watch?.generation) return watch.generation.item;
		if (job.kind === 'create') return shared.journal.paidFor(job);
		const { id } = job;
		const wasRunning = shared.memory?.waits[id] !== undefined;
		const known = shared.watcher.known(id)?.item;
		return known ?? { id, ...(wasRunning && { status: 'processing' }) };
	}

	/** Finds or creates the generation to watch, with the job's current model. Throws GenerationError or CancelledError. */
	async begin(): Promise<void> {
		const { job } = this;
		if (job.kind === 'collect') return await this.follow(job);
		const { journal, rest } = this.shared;
		const order = this.ownOrder(job);
		if (this.hasSlept && !job.tried) this.repeatDecisions(job, order);
		order.fields = requestFields(job);
		const locked = rest?.begin(() => Infinity);
		// An AI agent may send the same call twice at once. The second one waits for the lock, then reuses the generation.
		await withLock(journal.shared, order.lock, async () => {
			locked?.();
			await this.findOrCreate(order);
		});
	}

	/** Begins to watch the generation of a job that creates nothing. */
	private async follow({ id, readiness, timeoutMs, wait }: CollectJob): Promise<void> {
		const { memory, startedAt, watcher } = this.shared;
		const isKnown = memory?.waits[id] !== undefined || watcher.known(id) !== null;
		// Retry a 404 only if the step has seen the generation before. Otherwise, the user may have mistyped the ID.
		this.watch = new Watch(watcher, id, null, readiness, wait && isKnown);
		// An existing generation runs while its item waits for its turn, so its timeout counts from the start of the attempt.
		this.waitSince(memory?.waits[id] ?? memory?.since ?? startedAt);
		// The generation may have ended during a sleep, or while its item waited for its turn: check it at once.
		const leftMs = this.deadline - this.shared.clock.now();
		if (this.hasSlept || leftMs < Math.min(LEAST_LEFT_MS, timeoutMs / 4)) await this.checkOnce();
	}

	/** Claims the job's order (writes its row) before the job begins. Returns false if that is not possible. */
	claimEarly(): boolean {
		const { job, shared } = this;
		// Not after a sleep: the row names the model, which may be a fallback by now. Only `repeatDecisions` finds that out.
		if (job.kind !== 'create' || !job.idempotencyKey || this.hasSlept) return false;
		return shared.journal.claimEarly(this.ownOrder(job));
	}

	private get hasSlept(): boolean {
		return (this.shared.memory?.restedAt ?? 0) > 0;
	}

	/** Begins the wait for the generation. Its timeout counts from `since`. */
	private waitSince(since: number): void {
		const watch = this.watch as Watch;
		watch.since = since;
		this.deadline = since + this.job.timeoutMs;
		const { memory, watcher } = this.shared;
		const checksFrom = (memory?.restedAt ?? 0) + watcher.intervalMs;
		// Even if the poll interval is long, the last check must come before the deadline.
		watch.checksFrom = Math.min(checksFrom, this.deadline - LEAST_LEFT_MS);
		// If the deadline is already over, one short check still follows. The run must not rest (end early) before it.
		watch.mayRest = this.deadline > this.shared.clock.now();
	}

	/** Requests the status until one request succeeds. A `collect` job, or any job after a sleep, may exceed its deadline. */
	private async checkOnce(): Promise<void> {
		const { clock, lateSeenAt, creationBan } = this.shared;
		const { kind, timeoutMs } = this.job;
		let until = this.deadline;
		if (kind === 'collect') until = Math.max(until, lateSeenAt) + LATE_CHECK_GRACE_MS;
		// With a `creationBan`, this run only fetches results, and no run follows it. So the job tries for its whole Timeout.
		const isLast = kind === 'create' && creationBan;
		const grace = isLast ? Math.max(AFTER_SLEEP_MS, timeoutMs) : AFTER_SLEEP_MS;
		if (this.hasSlept) until = Math.max(until, lateSeenAt + grace);
		await this.watch?.until('fetched', until);
		if (this.watch?.generation) this.shared.lateSeenAt = clock.now();
	}

	/** Watches the generation for as long as the job waits, and stores its state. Throws GenerationError or CancelledError. */
	async wait(): Promise<void> {
		const { clock, memory, rest, slots, waits } = this.shared;
		const watch = this.watch as Watch;
		const { id, since } = watch;
		if (rest) rest.running++;
		try {
			await watch.until(this.job.wait ? 'final' : 'fetched', this.deadline);
		} finally {
			this.commit();
			if (rest) rest.running--;
			if (watch.generation && !watch.isOver) waits[id] = since;
			else delete waits[id];
		}
		if (!watch.isOver) return;
		if (watch.wasRunning) slots.release();
		const seenAt = watch.wasRunning ? watch.seenAt : memory?.waits[id] && memory.restedAt;
		if (seenAt && this.isOwn) rest?.ended(seenAt - since, clock.now() - since);
	}

	/** Prepares another try if the generation failed, or its model refused the request. Returns false if no try is left. */
	planNextTry(error: unknown): boolean {
		const { job, watch } = this;
		const isRefunded = error instanceof GenerationError && error.charge === 'refunded';
		// A watched generation that was not refunded is paid for, or may still succeed. Do not create another one.
		if (job.kind !== 'create' || (watch !== null && !isRefunded)) return false;
		if (decideNextTry(job, error) === 'stop') return false;
		this.watch = null;
		this.replacesFailed ||= isRefunded;
		return true;
	}

	/**
	 * Returns the generation after the wait. After a timeout, On Timeout decides: Continue returns the last known state with
	 * `timed_out`, Error throws GenerationError. Also throws GenerationError if the generation ended without an output.
	 */
	result(): Generation {
		const { job } = this;
		const { generation, id, lastError } = this.watch as Watch;
		if (generation && (!job.wait || isFinal(generation))) {
			const error = errorOfEnd(generation);
			// A `collect` job that does not wait returns any status, even a failure. Only a missing output is an error.
			const isReturned = job.kind === 'collect' && !job.wait && !lacksOutput(generation);
			if (error !== null && !isReturned) throw error;
			return generation;
		}
		const { item } = unseen(id, this.known ?? {});
		const error = timedOutGeneration(item, job.timeoutMs, lastError);
		if (job.onTimeout === 'error' || item.status === 'completed') throw error;
		return unseen(id, { ...item, timed_out: true });
	}

	explain(error: unknown): unknown {
		const { job, shared } = this;
		return job.kind === 'collect' ? error : shared.journal.explain(this.ownOrder(job), error);
	}

	/**
	 * Returns the outcome of an error, or of a stop. While an earlier request of the item may have been charged, the outcome
	 * is the error `uncertain_charge`, which quotes the new error.
	 */
	outcomeOf<T>(thrown: unknown): Outcome<T> {
		const { job, known, shared } = this;
		const explained = this.explain(thrown);
		const tried = job.kind === 'create' ? explainTries(job, explained) : explained;
		const outcome = thrownOutcome<T>(tried, known);
		if (job.kind !== 'create' || known !== null) return outcome;
		const error = outcome.kind === 'error' ? outcome.error : null;
		const unresolved = shared.journal.unresolved(this.ownOrder(job));
		if (unresolved === null || (error?.charge ?? 'none') !== 'none') return outcome;
		return { kind: 'error', error: uncertainCharge(error, unresolved, job.onUncertainCharge) };
	}

	/** Counts the tries of earlier runs: each try has left a row. Throws the failed generation's error if no try is left. */
	private repeatDecisions(job: CreateJob, order: Order): void {
		const { failed, live } = this.shared.journal.tries(order);
		for (const row of failed) {
			const { generation_id: id, model } = row;
			const error = failedGeneration(unseen(id, { status: 'failed', model }));
			if (decideNextTry(job, error) === 'stop' && !live) throw error;
		}
		const { model = '' } = live ?? failed.at(-1) ?? {};
		const fallbacks = (job.fallbackModels ?? []).indexOf(model) + 1;
		if (job.tried) job.tried.fallbacks = Math.max(job.tried.fallbacks, fallbacks);
		else if (fallbacks > 0) job.tried = { failed: 0, fallbacks };
	}

	/** Reuses the generation of an earlier attempt, unless it failed. Otherwise creates a new one. */
	private async findOrCreate(order: Order): Promise<void> {
		const { clock, journal, memory, creationBan, startedAt, submission, watcher } = this.shared;
		for (;;) {
			const earlierId = await submission.earlier(order);
			if (earlierId === null && creationBan) throw creationBan;
			const made = earlierId === null ? await submission.createWithRetries(order) : null;
			const id = earlierId ?? made?.item.id;
			// Nothing was sent: another execution has claimed the key, or the service has asked for a pause. Begin again.
			if (id === undefined) continue;
			// The service confirmed this id earlier, so a 404 is transient.
			this.watch = new Watch(watcher, id, made, order.job.readiness, true);
			const now = clock.now();
			this.waitSince(order.job.countsFromStart ? startedAt : (memory?.waits[id] ?? now));
			const replaces = this.replacesFailed;
			this.replacesFailed = false;
			if (made && replaces) submission.stats.recreated++;
			this.isOwn = made !== null || journal.tries(order).live?.generation_id === id;
			if (made || (await this.reuses())) return;
			this.watch = null;
		}
	}

	/** Checks the generation of an earlier attempt. Returns false if it failed, so that another one may be created. */
	private async reuses(): Promise<boolean> {
		const watch = this.watch as Watch;
		const seen = await toResult(async () => await this.checkOnce());
		const error = seen.ok ? watch.generation === null && watch.lastError : seen.error;
		const isUnknown = error instanceof GenerationError && error.code === 'generation_not_found';
		if (!seen.ok || isUnknown) throw error;
		this.commit();
		const isTry = this.isOwn && this.hasSlept;
		const hasFailed = watch.generation !== null && isFailed(watch.generation);
		// If this step created the failed generation before its sleep, `planNextTry` decides. Any other one is replaced.
		if (hasFailed && !isTry) return false;
		if (!isTry) this.shared.submission.stats.reused++;
		return true;
	}

	private ownOrder(job: CreateJob): Order {
		return (this.order ??= orderOf(job, this.shared.journal.runIndex));
	}

	private commit(): void {
		if (this.order !== null && this.watch?.generation) {
			this.shared.journal.commit(this.order, this.watch.generation);
		}
	}
}
