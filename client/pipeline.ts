import { onAbort } from './basics/abort';
import type { Clock, ProbeUrl, Random } from './basics/ports';
import { Course, knownBefore, type Shared } from './course';
import type { Job } from './jobs/job';
import { thrownOutcome, type Outcome } from './jobs/outcome';
import { OrderBook, type Books } from './paying/order-book';
import { Slots } from './paying/slots';
import { Submission, type SubmissionStats } from './paying/submission';
import type { LastLooks } from './watching/looks';
import { Watcher } from './watching/watch';
import { CancelledError } from './wire/errors';
import type { Generation } from './wire/generation';
import type { GenerationService } from './wire/service';

/** What the pipeline reaches the world by: the service, the storage, time, and the books of what is paid for. */
export interface PipelinePorts<T> extends Books {
	service: GenerationService;
	/** Asks an output URL whether its file is there. */
	probe: ProbeUrl;
	clock: Clock;
	random: Random;
	/** The slots of the account, where other steps share them. */
	slots?: Slots;
	/** The user's Stop or the workflow's timeout: from then on nothing is sent. */
	cancel: AbortSignal;
	/** When the step began, where that was before this pipeline, and which statuses it has asked for since. */
	startedAt?: number;
	looks?: LastLooks;
	/**
	 * What is made of a generation to hand it on, such as its download. Overlaps with everything else.
	 *
	 * @param refresh asks for it once more, as soon as the poll interval allows
	 */
	finish: (
		job: Job,
		generation: Generation,
		signal: AbortSignal,
		refresh: () => Promise<Generation>,
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

class Pipeline<T> {
	/** Ends all waiting: on cancel, and on the first error of a step that stops on errors. */
	private readonly halt = new AbortController();
	private readonly shared: Shared;
	private readonly finishing: Array<Promise<void>> = [];
	private readonly outcomes = new Map<Job, Outcome<T>>();
	private firstFailed: Job | null = null;
	private nextJob = 0;

	constructor(
		private readonly jobs: Job[],
		private readonly ports: PipelinePorts<T>,
		private readonly settings: PipelineSettings,
	) {
		const halt = this.halt.signal;
		const book = new OrderBook(ports, halt);
		const slots = ports.slots ?? new Slots(ports);
		this.shared = {
			...ports,
			startedAt: ports.startedAt ?? ports.clock.now(),
			lateSeenAt: ports.clock.now(),
			book,
			slots,
			submission: new Submission({ ...ports, book, halt, slots }),
			watcher: new Watcher({ ...ports, halt }, settings.pollIntervalMs, ports.looks),
		};
	}

	async run(): Promise<PipelineResult<T>> {
		const { cancel } = this.ports;
		const forget = onAbort(cancel, () => this.halt.abort());
		try {
			const workers = Math.min(this.settings.maxConcurrent, this.jobs.length);
			await Promise.all(Array.from({ length: workers }, async () => await this.work()));
			await Promise.all(this.finishing);
		} finally {
			forget();
		}
		const { book, slots, submission, watcher } = this.shared;
		const { stats, gate } = submission;
		return {
			outcomes: this.jobs.map((job) => this.outcomes.get(job) ?? this.stopped(job)),
			firstFailed: this.firstFailed,
			stats: {
				...stats,
				retries: stats.retries + watcher.passed.size,
				slotWaitMs: gate.waitedMs,
				slotRefusal: slots.lastRefusal?.said ?? null,
				changed: [...book.changed].sort((a, b) => a - b),
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
		const course = new Course(job, this.shared);
		try {
			await course.begin();
			await course.wait(job.wait ? 'final' : 'fetched');
			this.finishing.push(this.finish(course, course.result()));
		} catch (error) {
			this.settle(job, thrownOutcome(error, course.known));
		}
		const { watch } = course;
		if (watch?.isOver && watch.wasRunning) this.shared.slots.release(watch.id);
	}

	private async finish(course: Course, generation: Generation): Promise<void> {
		const { job } = course;
		const { signal } = this.halt;
		try {
			if (signal.aborted) throw new CancelledError();
			const { watcher } = this.shared;
			const refresh = async () => await watcher.looks.again(generation.item.id);
			const finished = await this.ports.finish(job, generation, signal, refresh);
			this.settle(job, {
				kind: 'done',
				generation: finished.generation.item,
				output: finished.output,
			});
		} catch (error) {
			this.settle(job, thrownOutcome(course.explain(error), generation.item));
		}
	}

	/** The outcome of a job that was never begun; an earlier try may have. */
	private stopped(job: Job): Outcome<T> {
		return { kind: 'stopped', generation: knownBefore(job, this.shared, null) };
	}

	private settle(job: Job, outcome: Outcome<T>): void {
		this.outcomes.set(job, outcome);
		if (outcome.kind !== 'error') return;
		this.firstFailed ??= job;
		if (this.settings.stopOnError) this.halt.abort();
	}
}
