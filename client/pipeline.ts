import { onAbort } from './basics/abort';
import { attempt } from './basics/attempt';
import { CancelledError, GenerationError, type KnownGeneration } from './wire/errors';
import { isFailed, isFinal, type Generation } from './wire/generation';
import type { Job } from './jobs/job';
import type { Ledger } from './paying/ledger';
import { limit } from './basics/limit';
import { failedGeneration, thrownOutcome, timedOutGeneration, type Outcome } from './jobs/outcome';
import type { PollSchedule, Watched } from './watching/poll-schedule';
import type { Clock, Random } from './basics/ports';
import type { GenerationService } from './wire/service';
import type { Probing } from './paying/slot-gate';
import { Submission, type SubmissionStats } from './paying/submission';

export interface PipelinePorts<T> {
	service: GenerationService;
	ledger: Ledger;
	schedule: PollSchedule;
	clock: Clock;
	random: Random;
	/** The user's Stop or the workflow's timeout: from then on nothing is sent. */
	cancel: AbortSignal;
	/** Looks at a generation again; `looks` counts from 1. */
	observe: (job: Job, generation: Generation, looks: number) => Promise<Generation>;
	/** What is made of a generation to hand it on, such as its download. Overlaps with everything else. */
	finish: (
		job: Job,
		generation: Generation,
		signal: AbortSignal,
	) => Promise<{ generation: Generation; output: T | null }>;
}

export interface PipelineSettings {
	/** Generations in flight at once. */
	maxConcurrent: number;
	/** Generations being finished (downloaded) at once. */
	maxFinishing: number;
	/** True: the first error ends the step; what is in flight comes to its id, not to its end. */
	stopOnError: boolean;
	/** How to ask for slots, where it is not the usual way. */
	probing?: Probing;
}

/** What happened on the way, for the step's summary. */
export interface PipelineStats extends SubmissionStats {
	/** Generations that failed and were refunded. */
	failed: number;
	/** Milliseconds during which the step had to wait for free slots. */
	slotWaitMs: number;
	/** What the service said when it had no slot: how many are running, and how many the plan allows (spec 8). */
	slotRefusal: string | null;
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
	private readonly submission: Submission;
	private readonly finishSlot;
	private readonly finishing: Array<Promise<void>> = [];
	private readonly outcomes = new Map<Job, Outcome<T>>();
	private firstFailed: Job | null = null;
	private failed = 0;
	private nextJob = 0;

	constructor(
		private readonly jobs: Job[],
		private readonly ports: PipelinePorts<T>,
		private readonly settings: PipelineSettings,
	) {
		this.submission = new Submission({
			...ports,
			halt: this.halt.signal,
			probing: settings.probing,
		});
		this.finishSlot = limit(settings.maxFinishing);
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
		return {
			outcomes: this.jobs.map((job) => this.outcomes.get(job) ?? this.stopped(job)),
			firstFailed: this.firstFailed,
			stats: {
				...this.submission.stats,
				failed: this.failed,
				slotWaitMs: this.submission.gate.waitedMs,
				slotRefusal: this.submission.gate.lastRefusal?.said ?? null,
			},
		};
	}

	/** One of `maxConcurrent` workers: each is a slot of the step. */
	private async work(): Promise<void> {
		while (this.nextJob < this.jobs.length && !this.halt.signal.aborted) {
			await this.carry(this.jobs[this.nextJob++]);
		}
	}

	private async carry(job: Job): Promise<void> {
		const course = new Course(job, this.ports, this.halt.signal);
		try {
			await course.begin(this.submission);
			if (job.wait) await course.waitForEnd();
			this.finishing.push(this.finish(job, course.generation as Generation));
		} catch (error) {
			this.settle(job, thrownOutcome(error, course.known));
		}
		if (course.generation && isFinal(course.generation)) this.submission.gate.release();
	}

	private async finish(job: Job, generation: Generation): Promise<void> {
		const { signal } = this.halt;
		try {
			const finished = await this.finishSlot(async () => {
				if (signal.aborted) throw new CancelledError();
				return await this.ports.finish(job, generation, signal);
			});
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
		if (outcome.error.charge === 'refunded') this.failed++;
		if (this.settings.stopOnError) this.halt.abort();
	}
}

/** One job's way from nothing to the end of its generation. */
class Course {
	generation: Generation | null = null;
	private ledgerKey: string | null = null;
	private looks = 0;

	constructor(
		private readonly job: Job,
		private readonly ports: PipelinePorts<unknown>,
		private readonly halt: AbortSignal,
	) {}

	get known(): KnownGeneration | null {
		if (this.generation) return this.generation.item;
		return knownBefore(this.job, this.ports.ledger, this.ledgerKey);
	}

	/** Comes to the generation: by its id, from the ledger, or by creating it. */
	async begin(submission: Submission): Promise<void> {
		const { job, ports } = this;
		if (job.id !== undefined) {
			this.generation = await ports.service.status(job.id);
			this.looks = 1;
			return;
		}
		if (!job.request) throw new TypeError('A job needs an id or a request');
		const request = await job.request();
		this.ledgerKey = ports.ledger.key(job.itemIndex, request, job.recipe?.());
		const obtained = await submission.obtain(job, request, this.ledgerKey);
		this.generation = obtained.generation;
		this.looks = obtained.takenUp ? 1 : 0;
	}

	/**
	 * Looks until the generation has ended or the timeout has passed.
	 *
	 * @throws GenerationError where it failed, or did not end in time and the job does not continue then
	 */
	async waitForEnd(): Promise<void> {
		const { clock, schedule } = this.ports;
		const startedAt = clock.now();
		const deadline = (this.job.waitingSinceMs ?? startedAt) + this.job.timeoutMs;
		const fromBirth = this.looks === 0;
		let lastLook = startedAt;
		while (!isFinal(this.current)) {
			const now = clock.now();
			if (now >= deadline) return this.timeOut();
			const delay = schedule.delay(this.watched(now - startedAt, fromBirth));
			await clock.sleep(Math.min(delay, deadline - now), this.halt);
			if (this.halt.aborted) throw new CancelledError();
			const gap = clock.now() - lastLook;
			lastLook += gap;
			const looked = await attempt(async () => await this.look());
			if (!looked.ok) {
				if (clock.now() < deadline || !this.outlasts(looked.error)) throw looked.error;
				return this.timeOut();
			}
			const watched = this.watched(lastLook - startedAt, fromBirth);
			if (fromBirth && isFinal(this.current)) schedule.learn(watched, gap);
		}
		if (isFailed(this.current)) throw failedGeneration(this.current);
	}

	/** Whether an error says nothing of the generation, and the job goes on with what it knows once its time is over. */
	private outlasts(error: unknown): boolean {
		const passing = error instanceof GenerationError && error.retry === 'backoff';
		return passing && this.job.onTimeout === 'continue';
	}

	private watched(ageMs: number, fromBirth: boolean): Watched {
		return { model: this.current.item.model, looks: this.looks, ageMs, fromBirth };
	}

	private async look(): Promise<void> {
		this.generation = await this.ports.observe(this.job, this.current, ++this.looks);
		if (this.ledgerKey !== null) this.ports.ledger.record(this.ledgerKey, this.generation);
	}

	private timeOut(): void {
		if (this.job.onTimeout === 'error') throw timedOutGeneration(this.current, this.job.timeoutMs);
		this.current.item.timed_out = true;
	}

	private get current(): Generation {
		return this.generation as Generation;
	}
}

/** The generation of a job that this try has not come to: the one to wait for, or one that an earlier try has paid for. */
function knownBefore(job: Job, ledger: Ledger, key: string | null): KnownGeneration | null {
	return job.id === undefined ? ledger.paidBy(job.itemIndex, key) : { id: job.id };
}
