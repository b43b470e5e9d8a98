import { attempt } from './basics/attempt';
import type { Clock } from './basics/ports';
import type { CreateJob, Job } from './jobs/job';
import {
	created,
	failedGeneration,
	inAnotherAccount,
	isUnknown,
	timedOutGeneration,
} from './jobs/outcome';
import { inTurn } from './paying/in-turn';
import type { Ledger } from './paying/ledger';
import type { Order, OrderBook } from './paying/order-book';
import type { Slots } from './paying/slots';
import type { Submission } from './paying/submission';
import type { Goal, Watch, Watcher } from './watching/watch';
import type { KnownGeneration } from './wire/errors';
import { isFailed, isFinal, unseen, type Generation } from './wire/generation';
import type { CreateRequest } from './wire/service';

/** How long a step goes on looking, beyond its time, at ids whose turns come late, without any of them being seen. */
const LATE_MS = 10_000;
/** A turn that leaves less time than this, or a quarter of a short timeout, comes late. */
const SHORTEST_TURN_MS = 1_000;
/** How long a generation that was slept for is asked for at its end: enough for all the tries of a look that fails. */
const AFTER_SLEEP_MS = 100_000;

/** What all jobs of a step share. */
export interface Shared {
	clock: Clock;
	/** When the step began, in milliseconds since the Unix epoch. */
	startedAt: number;
	/** When an id whose turn came late was last seen; at first, when the looking began. */
	lateSeenAt: number;
	ledger: Ledger;
	book: OrderBook;
	slots: Slots;
	submission: Submission;
	watcher: Watcher;
}

/** A job on its way to its generation, and with it to its end. */
export class Course {
	/** `null` before its request was built, and where there is none. */
	private order: Order | null = null;
	/** `null` before there is a generation to watch. */
	watch: Watch | null = null;
	/** Until when it is waited for, in milliseconds since the Unix epoch. */
	private deadline = Infinity;

	constructor(
		readonly job: Job,
		private readonly step: Shared,
	) {}

	/** What is known of its generation, for its outcome whatever happens. */
	get known(): KnownGeneration | null {
		return (
			this.watch?.generation?.item ?? knownBefore(this.job, this.step, this.order?.key ?? null)
		);
	}

	/**
	 * Comes to something to watch: by its id, or by an order.
	 *
	 * @throws GenerationError where there is none to be had, or CancelledError
	 */
	async begin(): Promise<void> {
		const { job } = this;
		if (job.kind === 'create') return await this.orderIt(job);
		const { clock, startedAt, watcher } = this.step;
		// The generations run in any case: the timeout of all of them counts from the beginning.
		const { waitingSinceMs = startedAt } = job;
		const slept = waitingSinceMs < startedAt;
		// A check between two sleeps does not repeat a 404: the next check does.
		const exists = job.wait && watcher.looks.known(job.id) !== null;
		this.watch = watcher.watch(job.id, null, job.readiness, exists);
		this.deadline = waitingSinceMs + job.timeoutMs;
		// A check between two sleeps must not hold its worker for long.
		if (slept && !job.wait) this.deadline = Math.min(this.deadline, startedAt + AFTER_SLEEP_MS);
		const collects = slept && job.wait;
		// A generation may have ended during the sleep, or while its item waited: check it also after its deadline.
		const left = this.deadline - clock.now();
		if (!collects && left >= Math.min(SHORTEST_TURN_MS, job.timeoutMs / 4)) return;
		const since = Math.max(this.deadline, this.step.lateSeenAt);
		await this.watch.until('fetched', since + (collects ? AFTER_SLEEP_MS : LATE_MS));
		if (this.watch.generation) this.step.lateSeenAt = clock.now();
	}

	/**
	 * Waits for its generation until the goal is reached or its time is over.
	 *
	 * @throws as `Watch.until`
	 */
	async wait(goal: Goal): Promise<void> {
		try {
			await this.watch?.until(goal, this.deadline);
		} finally {
			this.keep();
		}
	}

	/**
	 * Its generation, once it was waited for.
	 *
	 * @throws GenerationError where it failed, or did not end in time and the job does not continue then
	 */
	result(): Generation {
		const { job } = this;
		const { id, generation, trouble } = this.watch as Watch;
		if (generation && (!job.wait || isFinal(generation))) {
			if (job.wait && isFailed(generation)) throw failedGeneration(generation);
			return generation;
		}
		const known = { ...unseen(id).item, ...this.known };
		if (job.onTimeout === 'error') throw timedOutGeneration(known, job.timeoutMs, trouble);
		return { failureReason: null, item: { ...known, timed_out: true } };
	}

	/** The error of what was to be done with its generation, with what to do about the record. */
	explain(error: unknown): unknown {
		return this.order === null ? error : this.step.book.explain(this.order, error);
	}

	private async orderIt(job: CreateJob): Promise<void> {
		const { book, ledger } = this.step;
		const request = await job.request();
		const order = book.order(job, request);
		this.order = order;
		// An agent may ask for the same twice at once: the second call comes to what the first has made.
		await inTurn(ledger.entries, order.key, async () => await this.obtain(order, request));
	}

	/** The generation that the order has come to in an earlier try, unless it failed then; else a new one. */
	private async obtain(order: Order, request: CreateRequest): Promise<void> {
		const { clock, book, submission, watcher } = this.step;
		for (;;) {
			const id = await submission.earlier(order);
			const made = id === null ? await submission.create(order, request) : null;
			// Neither: somebody else makes it, and the book knows more by now.
			if (id === null && made === null) continue;
			const known = made?.item.id ?? (id as string);
			// The service has said so itself: who denies it now comes round.
			const watch = watcher.watch(known, made, order.job.readiness, true);
			this.deadline = clock.now() + order.job.timeoutMs;
			this.watch = watch;
			if (made) return;
			const seen = await attempt(async () => await watch.until('fetched', this.deadline));
			if (!seen.ok) {
				const { error } = seen;
				throw book.explain(order, isUnknown(error) ? inAnotherAccount(error, known) : error);
			}
			this.keep();
			if (!watch.generation || !isFailed(watch.generation)) {
				submission.stats.takenUp++;
				return;
			}
			this.watch = null;
		}
	}

	/** Writes down what is known of the generation of an order. */
	private keep(): void {
		if (this.order !== null && this.watch?.generation) {
			this.step.book.record(this.order, this.watch.generation);
		}
	}
}

/**
 * The generation of a job that this try has not come to: the one to wait for, or one that an earlier try has paid for.
 *
 * @param key of the job's order in the ledger; `null` where its request was never built
 */
export function knownBefore(
	job: Job,
	{ book, watcher }: Pick<Shared, 'book' | 'watcher'>,
	key: string | null,
): KnownGeneration | null {
	if (job.kind === 'collect') return watcher.looks.known(job.id)?.item ?? { id: job.id };
	return created(book.paidBy(job, key));
}
