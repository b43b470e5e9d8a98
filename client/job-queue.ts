import type { Job } from './job';
import { JobRun, type StepState } from './job-run';

/**
 * How long before the expected end of a generation another job is prepared: a busy table takes half a second. At most
 * this part of a generation's duration: if the process dies, the charge of a prepared item is uncertain.
 */
const LEAD = { mostMs: 1_200, part: 0.5 };

/** The jobs of a step, in order. They are prepared ahead, so that no slot is idle while the table is written. */
export class JobQueue {
	private readonly waiting: JobRun[];
	private readonly prepared: JobRun[] = [];
	/** How long generations take: an average in which the last ones count most. */
	private usualMs: number | null = null;

	constructor(
		jobs: Job[],
		private readonly step: StepState,
	) {
		this.waiting = jobs.map((job) => new JobRun(job, step));
	}

	next(): JobRun | undefined {
		return this.prepared.shift() ?? this.waiting.shift();
	}

	/** Records how long a generation took. */
	ended(tookMs: number): void {
		this.usualMs = (tookMs + (this.usualMs ?? tookMs)) / 2;
	}

	/** Prepares a job before a generation is due to end, unless it has `ended` by then. `since`: when it began. */
	async prepareOne(since: number, isAllowed: () => boolean, ended: AbortSignal): Promise<void> {
		const { usualMs } = this;
		const { clock } = this.step;
		if (usualMs === null) return;
		const dueAt = since + usualMs - Math.min(LEAD.mostMs, LEAD.part * usualMs);
		await clock.sleep(Math.max(0, dueAt - clock.now()), ended);
		const run = ended.aborted || !isAllowed() ? undefined : this.waiting.shift();
		if (!run) return;
		this.prepared.push(run);
		run.prepare();
	}

	/** Takes back the reservations of jobs that were not taken. */
	async close(): Promise<void> {
		await Promise.all(this.prepared.map(async (run) => await run.abandon()));
	}
}
