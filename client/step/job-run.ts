import { toResult, withLock } from '../async';
import type { Clock } from '../ports';
import { decideNextTry, explainTries, type CreateJob, type Job } from '../jobs/job';
import {
	created,
	errorOfEnd,
	inAnotherAccount,
	knownEnd,
	thrownOutcome,
	timedOutGeneration,
	type Outcome,
} from '../jobs/outcome';
import type { Journal } from '../orders/journal';
import type { Order } from '../orders/order';
import { requestFields } from '../orders/table';
import type { Submission } from '../orders/submission';
import { explainedByRow, uncertainCharge } from '../orders/order-errors';
import type { Pauses } from '../pauses';
import { Watch } from '../watch/watch';
import type { Watcher } from '../watch/watcher';
import { GenerationError, type KnownGeneration } from '../api/errors';
import { isFailed, isFinal, lacksOutput, unseen, type Generation } from '../api/generation';
import { withModel, type CreateRequest } from '../api/client';

/** Grace period for first status checks that start after the deadline. Each success extends it. */
const LATE_CHECK_GRACE_MS = 10_000;
/** A job is late with less time left than this or a quarter of its timeout, whichever is shorter. */
const LEAST_LEFT_MS = 1_000;
/** Maximum time for the status check of a generation after a sleep, with all of its retries. */
const AFTER_SLEEP_MS = 100_000;

/** What all jobs of a step share. */
export interface SharedByJobs {
	clock: Clock;
	/** When the step began. */
	startedAt: number;
	/** When a late or resumed job last received a status; at first, when the pipeline started. */
	lateSeenAt: number;
	journal: Journal;
	submission: Submission;
	watcher: Watcher;
	pauses: Pauses;
}

/** One job, from its order or id to the end of its generation. */
export class JobRun {
	/** What the job asks for; `null` if it creates nothing, or before it is needed. */
	private order: Order | null = null;
	/** `null` before there is a generation to watch. */
	watch: Watch | null = null;
	/** When the wait for the generation times out; `Infinity` before there is one. */
	deadline = Infinity;
	/** True if the next generation of the job replaces a failed one. */
	private replacesFailed = false;

	constructor(
		readonly job: Job,
		private readonly shared: SharedByJobs,
	) {}

	/** The last known state of the generation: the one to watch, to collect, or that is already paid for. */
	get known(): KnownGeneration | null {
		const { job, shared, watch } = this;
		if (watch?.generation) return watch.generation.item;
		if (job.kind === 'create') return created(shared.journal.paidBy(this.orderOf(job)));
		const { id, row } = job;
		return shared.watcher.requests.known(id)?.item ?? { id, ...(row && { status: row.status }) };
	}

	/** The fallback model that creates the output; `null` for the model of the request. */
	get fallback(): string | null {
		if (this.job.kind !== 'create') return null;
		const { fallbackModels = [], tried } = this.job;
		return fallbackModels[(tried?.fallbacks ?? 0) - 1] ?? null;
	}

	/** Finds or creates the generation to watch. Throws GenerationError if there is none, or CancelledError. */
	async begin(): Promise<void> {
		const { job } = this;
		if (job.kind === 'create') return await this.obtain(job);
		const { clock, startedAt, lateSeenAt, watcher } = this.shared;
		// The generations run in any case, so the timeout of each counts from the start of the step.
		const { id, wait, timeoutMs, waitingSinceMs = startedAt } = job;
		const hasSlept = waitingSinceMs < startedAt;
		// If `exists`, a 404 is retried. A single check of a user's ID does not retry it: in a sleeping step, a later
		// check asks again.
		const exists = job.row !== undefined || (wait && watcher.requests.known(id) !== null);
		this.watch = new Watch(watcher, id, null, job.readiness, exists);
		this.deadline = waitingSinceMs + timeoutMs;
		if (hasSlept) this.watch.pauses = this.shared.pauses;
		// A check between two sleeps must not hold its worker for long.
		if (hasSlept && !wait) this.deadline = Math.min(this.deadline, startedAt + AFTER_SLEEP_MS);
		// The generation may have ended during the sleep, or while its item waited. Check it even after its deadline.
		let checkUntil = Math.max(this.deadline, lateSeenAt) + LATE_CHECK_GRACE_MS;
		if (hasSlept && wait) checkUntil = Math.max(checkUntil, lateSeenAt + AFTER_SLEEP_MS);
		else if (this.deadline - clock.now() >= Math.min(LEAST_LEFT_MS, timeoutMs / 4)) return;
		await this.watch.until('fetched', checkUntil);
		if (wait) this.watch.pauses = null;
		if (this.watch.generation) this.shared.lateSeenAt = clock.now();
	}

	/** Waits as long as the job does, and stores the last known state. Throws as `Watch.until`. */
	async wait(): Promise<void> {
		try {
			await this.watch?.until(this.job.wait ? 'final' : 'fetched', this.deadline);
		} finally {
			this.commit();
		}
	}

	/**
	 * Prepares another try after an error: the generation failed, or its model created nothing. Returns false if the error
	 * is final.
	 */
	planNextTry(error: unknown): boolean {
		const { job, watch } = this;
		const isRefunded = error instanceof GenerationError && error.charge === 'refunded';
		// If the generation did not fail, the error came from a status check.
		if (job.kind !== 'create' || (watch !== null && !isRefunded)) return false;
		if (decideNextTry(job, error) === 'stop') return false;
		this.watch = null;
		this.replacesFailed ||= isRefunded;
		return true;
	}

	/**
	 * Returns the generation after the wait: with `timed_out` if it did not end in time and On Timeout continues. Throws
	 * GenerationError if it has no output, or did not end in time.
	 */
	result(): Generation {
		const { job, known } = this;
		const { watcher } = this.shared;
		const { id, lastError, wasChecked } = this.watch as Watch;
		const seenBefore = watcher.requests.known(id) ?? unseen(id);
		const generation = this.watch?.generation ?? knownEnd(seenBefore, known);
		if (generation && (!job.wait || isFinal(generation))) {
			const error = errorOfEnd(generation);
			if (error !== null && !this.isReturned(generation)) throw error;
			return generation;
		}
		const item = { ...unseen(id).item, ...known };
		// An item whose turn came too late to be checked has the error that kept the step from it.
		const cause = wasChecked ? lastError : ([...watcher.transientErrors].at(-1) ?? null);
		const error = timedOutGeneration(item, job.timeoutMs, cause);
		if (job.onTimeout === 'error' || error.code !== 'timeout') throw error;
		return { ...unseen(id), item: { ...item, timed_out: true } };
	}

	/** True for a generation without an output that is returned with its status, because the job does not wait. */
	private isReturned(generation: Generation): boolean {
		const { job } = this;
		if (job.wait || lacksOutput(generation)) return false;
		// A single check returns any status. A generation that was just created and failed was refunded.
		return job.kind === 'collect' || isFailed(generation);
	}

	/** Adds advice about the row to an error. */
	explain(error: unknown): unknown {
		const { job, shared } = this;
		if (job.kind === 'collect') return job.row ? explainedByRow(error, job.row) : error;
		return shared.journal.explain(this.orderOf(job), error);
	}

	/** Adds advice about the row to an error that ends the job, and the earlier tries of the output. */
	private withEarlierTries(thrown: unknown): unknown {
		const error = this.explain(thrown);
		return this.job.kind === 'create' ? explainTries(this.job, error) : error;
	}

	/**
	 * Returns the outcome of an error, or of a stop. An item that may have been charged before stays uncertain: a later error
	 * is added to that, and cannot replace it.
	 */
	outcomeOf<T>(thrown: unknown): Outcome<T> {
		const { job, known, shared } = this;
		const outcome = thrownOutcome<T>(this.withEarlierTries(thrown), known);
		if (job.kind !== 'create' || known !== null) return outcome;
		const error = outcome.kind === 'error' ? outcome.error : null;
		const unresolved = shared.journal.unresolved(this.orderOf(job));
		if (unresolved === null || (error?.charge ?? 'none') !== 'none') return outcome;
		return { kind: 'error', error: uncertainCharge(error, unresolved, job.onUncertainCharge) };
	}

	/** Finds or creates a generation, with the model of the current try. Throws as `begin`. */
	private async obtain(job: CreateJob): Promise<void> {
		const { journal, pauses } = this.shared;
		const order = this.orderOf(job);
		const model = this.fallback ?? undefined;
		order.fields = requestFields(job, model);
		const build = async () => {
			const request = await job.request();
			return model === undefined ? request : withModel(request, model);
		};
		const locked = pauses.begin(Infinity);
		const obtain = async () => {
			locked();
			await this.findOrCreate(order, build);
		};
		// An agent may request the same thing twice at once. The second call reuses the generation of the first.
		await withLock(journal.shared, order.lock, obtain);
	}

	/** Reuses the generation of an earlier attempt, unless it failed. Otherwise creates a new one. */
	private async findOrCreate(order: Order, build: () => Promise<CreateRequest>): Promise<void> {
		const { clock, startedAt, submission, watcher } = this.shared;
		const { timeoutMs, countsFromStart } = order.job;
		for (;;) {
			const earlierId = await submission.earlier(order);
			const made = earlierId === null ? await submission.create(order, build) : null;
			const id = earlierId ?? made?.item.id;
			// Another execution was first, or the row has changed. The next read returns the result, or waits for it.
			if (id === undefined) continue;
			// The service confirmed this id earlier, so a 404 is transient.
			const watch = new Watch(watcher, id, made, order.job.readiness, true);
			this.deadline = (countsFromStart ? startedAt : clock.now()) + timeoutMs;
			this.watch = watch;
			const replaces = this.replacesFailed;
			this.replacesFailed = false;
			if (made && replaces) submission.stats.recreated++;
			if (made) return;
			const seen = await toResult(async () => await watch.until('fetched', this.deadline));
			const error = seen.ok ? watch.generation === null && watch.lastError : seen.error;
			if (error instanceof GenerationError && error.code === 'generation_not_found') {
				throw inAnotherAccount(error, id);
			}
			if (!seen.ok) throw error;
			this.commit();
			if (!watch.generation || !isFailed(watch.generation)) {
				submission.stats.reused++;
				return;
			}
			this.watch = null;
		}
	}

	private orderOf(job: CreateJob): Order {
		return (this.order ??= this.shared.journal.order(job));
	}

	/** Stores the last known state of an order's generation. */
	private commit(): void {
		if (this.order !== null && this.watch?.generation) {
			this.shared.journal.commit(this.order, this.watch.generation);
		}
	}
}
