import { onAbort } from './basics/abort';
import { attempt } from './basics/attempt';
import type { Clock, ProbeUrl, Random } from './basics/ports';
import type { Job } from './jobs/job';
import { failedGeneration, thrownOutcome, timedOutGeneration, type Outcome } from './jobs/outcome';
import { inTurn } from './paying/in-turn';
import { OrderBook, type Books, type Order } from './paying/order-book';
import type { Probing } from './paying/slot-gate';
import { Submission, type SubmissionStats } from './paying/submission';
import { Watcher, type Goal, type Watch } from './watching/watch';
import { CancelledError, type KnownGeneration } from './wire/errors';
import { isFailed, isFinal, unseen, type Generation } from './wire/generation';
import type { GenerationService } from './wire/service';

/** What the pipeline reaches the world by: the service, the storage, time, and the books of what is paid for. */
export interface PipelinePorts<T> extends Books {
	service: GenerationService;
	/** Asks an output URL whether its file is there. */
	probe: ProbeUrl;
	clock: Clock;
	random: Random;
	/** The user's Stop or the workflow's timeout: from then on nothing is sent. */
	cancel: AbortSignal;
	/** What is made of a generation to hand it on, such as its download. Overlaps with everything else. */
	finish: (
		job: Job,
		generation: Generation,
		signal: AbortSignal,
	) => Promise<{ generation: Generation; output: T | null }>;
}

/** What holds for all jobs of a step. */
export interface PipelineSettings {
	/** Generations in flight at once. */
	maxConcurrent: number;
	/** True: the first error ends the step; what is in flight comes to its id, not to its end. */
	stopOnError: boolean;
	/** The status of a generation is never asked for more often. */
	pollIntervalMs: number;
	/** How to ask for slots, where it is not the usual way. */
	probing?: Probing;
}

/** What happened on the way, for the step's summary. */
export interface PipelineStats extends SubmissionStats {
	/** Milliseconds during which the step had to wait for free slots. */
	slotWaitMs: number;
	/** What the service said when it had no slot: how many are running, and how many the plan allows (spec 8). */
	slotRefusal: string | null;
	/** Items that have the generation of their idempotency key, which was ordered with another request. */
	changed: number[];
}

export interface PipelineResult<T> {
	/** One for each job, in the order of the jobs. */
	outcomes: Array<Outcome<T>>;
	/** The job whose error came first in time, which is the cause of what was not sent after it. */
	firstFailed: Job | null;
	stats: PipelineStats;
}

/**
 * The one batch loop: takes all jobs of a step to their generations, up to `maxConcurrent` in flight; when one
 * finishes the next is submitted at once. Never throws for what happens to a job: that is in its outcome.
 */
export async function runPipeline<T>(
	jobs: Job[],
	ports: PipelinePorts<T>,
	settings: PipelineSettings,
): Promise<PipelineResult<T>> {
	return await new Pipeline(jobs, ports, settings).run();
}

/** What is left for a look at what was slept for past its timeout. */
const AFTER_SLEEP_MS = 60_000;

/** A job on its way: what it has come to, for its outcome whatever happens. */
interface Course {
	job: Job;
	/** `null` before its request was built, and where there is none. */
	order: Order | null;
	watch: Watch | null;
}

/** A generation to watch, and until when, in milliseconds since the Unix epoch. */
interface Begun {
	watch: Watch;
	deadline: number;
}

class Pipeline<T> {
	/** Ends all waiting: on cancel, and on the first error of a step that stops on errors. */
	private readonly halt = new AbortController();
	private readonly book: OrderBook;
	private readonly submission: Submission;
	private readonly watcher: Watcher;
	private readonly finishing: Array<Promise<void>> = [];
	private readonly outcomes = new Map<Job, Outcome<T>>();
	private firstFailed: Job | null = null;
	private nextJob = 0;
	/** Generations whose slots were given back: several items may have the same one. */
	private readonly released = new Set<string>();

	constructor(
		private readonly jobs: Job[],
		private readonly ports: PipelinePorts<T>,
		private readonly settings: PipelineSettings,
	) {
		this.book = new OrderBook(ports, this.halt.signal);
		const shared = { ...ports, book: this.book, halt: this.halt.signal, probing: settings.probing };
		this.submission = new Submission(shared);
		this.watcher = new Watcher(shared, settings.pollIntervalMs);
	}

	async run(): Promise<PipelineResult<T>> {
		const { cancel } = this.ports;
		const stop = () => this.halt.abort();
		if (cancel.aborted) stop();
		const forget = onAbort(cancel, stop);
		try {
			const workers = Math.min(this.settings.maxConcurrent, this.jobs.length);
			await Promise.all(Array.from({ length: workers }, async () => await this.work()));
			await Promise.all(this.finishing);
		} finally {
			forget();
		}
		const { stats, gate } = this.submission;
		return {
			outcomes: this.jobs.map((job) => this.outcomes.get(job) ?? this.stopped(job)),
			firstFailed: this.firstFailed,
			stats: {
				...stats,
				retries: stats.retries + this.watcher.passed.size,
				slotWaitMs: gate.waitedMs,
				slotRefusal: gate.lastRefusal?.said ?? null,
				changed: [...this.book.changed].sort((a, b) => a - b),
			},
		};
	}

	/** One of `maxConcurrent` workers: each is a slot of the step. */
	private async work(): Promise<void> {
		while (this.nextJob < this.jobs.length && !this.halt.signal.aborted) {
			await this.carry(this.jobs[this.nextJob++]);
		}
	}

	/** Takes a job as far as it needs its slot: until its generation is over at the service. */
	private async carry(job: Job): Promise<void> {
		const course: Course = { job, order: null, watch: null };
		try {
			const begun = await this.begin(course);
			await this.wait(course, begun, job.wait ? 'over' : 'seen');
			this.finishing.push(
				begun.watch.isAnnounced
					? this.confirm(course, begun)
					: this.finish(job, this.resultOf(course, begun)),
			);
		} catch (error) {
			this.settle(job, thrownOutcome(error, this.known(course)));
		}
		if (course.watch?.isOver) this.release(course.watch.id);
	}

	/** The storage has the output of a generation; its status is still to say so, and what else is to be known of it. */
	private async confirm(course: Course, begun: Begun): Promise<void> {
		try {
			await this.wait(course, begun, 'ended');
			await this.finish(course.job, this.resultOf(course, begun));
		} catch (error) {
			this.settle(course.job, thrownOutcome(error, this.known(course)));
		}
	}

	private release(id: string): void {
		if (this.released.has(id)) return;
		this.released.add(id);
		this.submission.gate.release();
	}

	private async wait(course: Course, { watch, deadline }: Begun, goal: Goal): Promise<void> {
		try {
			await watch.until(goal, deadline);
		} finally {
			this.keep(course);
		}
	}

	/**
	 * The job's generation, once it was waited for.
	 *
	 * @throws GenerationError where it failed, or did not end in time and the job does not continue then
	 */
	private resultOf({ job }: Course, { watch }: Begun): Generation {
		const { generation } = watch;
		if (generation && (!job.wait || isFinal(generation))) {
			if (job.wait && isFailed(generation)) throw failedGeneration(generation);
			return generation;
		}
		const known = generation ?? unseen(watch.id);
		if (job.onTimeout === 'error') throw timedOutGeneration(known, job.timeoutMs, watch.trouble);
		return { ...known, item: { ...known.item, timed_out: true } };
	}

	/** Comes to something to watch, and until when: by its id, or by an order. */
	private async begin(course: Course): Promise<Begun> {
		const { job } = course;
		const { clock, ledger } = this.ports;
		if (job.kind === 'collect') {
			course.watch = this.watcher.watch(job.id, null, job.readiness);
			const now = clock.now();
			const { waitingSinceMs: since = now } = job;
			// One that was slept for may be over its time, and have ended meanwhile: it is looked at in any case.
			if (since < now) await course.watch.until('seen', now + AFTER_SLEEP_MS);
			return { watch: course.watch, deadline: since + job.timeoutMs };
		}
		const request = await job.request();
		const key = ledger.key(job, request);
		const order: Order = { job, request, key };
		course.order = order;
		try {
			return await this.obtain(course, order);
		} finally {
			// What it asks for may be megabytes, and nobody looks at it again.
			order.request = { ...request, body: {} };
		}
	}

	/** The generation that the order has come to in an earlier try, unless it failed then; else a new one. */
	private async obtain(course: Course, order: Order): Promise<Begun> {
		const { entries } = this.ports.ledger;
		// An agent may ask for the same twice at once: the second call comes to what the first has made.
		return await inTurn(entries, order.key, async () => await this.obtainNow(course, order));
	}

	private async obtainNow(course: Course, order: Order): Promise<Begun> {
		const { submission } = this;
		for (;;) {
			const id = await submission.earlier(order);
			const made = id === null ? await submission.create(order) : null;
			// Neither: somebody else makes it, and the book knows more by now.
			if (id === null && made === null) continue;
			const watch = this.watcher.watch(made?.item.id ?? (id as string), made, order.job.readiness);
			const deadline = this.ports.clock.now() + order.job.timeoutMs;
			course.watch = watch;
			if (made) return { watch, deadline };
			const seen = await attempt(async () => await watch.until('seen', deadline));
			if (!seen.ok) throw this.book.explain(order, seen.error);
			this.keep(course);
			if (!watch.generation || !isFailed(watch.generation)) {
				submission.stats.takenUp++;
				return { watch, deadline };
			}
			course.watch = null;
		}
	}

	/** Writes down what is known of the generation of an order. */
	private keep({ order, watch }: Course): void {
		if (order !== null && watch?.generation) this.book.record(order, watch.generation);
	}

	private known({ job, order, watch }: Course): KnownGeneration | null {
		return watch?.generation?.item ?? knownBefore(job, this.ports.ledger, order?.key ?? null);
	}

	private async finish(job: Job, generation: Generation): Promise<void> {
		const { signal } = this.halt;
		try {
			if (signal.aborted) throw new CancelledError();
			const finished = await this.ports.finish(job, generation, signal);
			this.settle(job, {
				kind: 'done',
				generation: finished.generation.item,
				output: finished.output,
			});
		} catch (error) {
			this.settle(job, thrownOutcome(error, generation.item));
		}
	}

	/** The outcome of a job that was never begun; an earlier try may have. */
	private stopped(job: Job): Outcome<T> {
		return { kind: 'stopped', generation: knownBefore(job, this.ports.ledger, null) };
	}

	private settle(job: Job, outcome: Outcome<T>): void {
		this.outcomes.set(job, outcome);
		if (outcome.kind !== 'error') return;
		this.firstFailed ??= job;
		if (this.settings.stopOnError) this.halt.abort();
	}
}

/** The generation of a job that this try has not come to: the one to wait for, or one that an earlier try has paid for. */
function knownBefore(
	job: Job,
	ledger: Books['ledger'],
	key: string | null,
): KnownGeneration | null {
	return job.kind === 'collect' ? { id: job.id } : ledger.paidBy(job.itemIndex, key);
}
