import type { Job } from './job';
import { JobRun, type StepState } from './job-run';

/**
 * How long before the expected end of a generation another job is prepared: a busy table takes half a second, and calls
 * wait for each other. At most this fraction of a generation's duration.
 */
const LEAD = { mostMs: 1_200, fraction: 0.5 };
/** A job whose turn does not come in time is not prepared any more: if the process dies, its charge is uncertain. */
const HOLD_MS = 3_000;

/** The jobs of a step, in order. They are prepared ahead, so that no slot is idle while the table is written. */
export class JobQueue {
	private readonly waiting: JobRun[];
	private readonly closing = new AbortController();
	private readonly abandoned: Array<Promise<void>> = [];
	/** How long generations take: an average in which the last ones count most. */
	private usualMs: number | null = null;

	constructor(
		jobs: Job[],
		private readonly step: StepState,
		private readonly mayPrepare: () => boolean,
	) {
		this.waiting = jobs.map((job) => new JobRun(job, step));
	}

	next(): JobRun | undefined {
		return this.waiting.shift();
	}

	/** Records how long a generation took. */
	ended(tookMs: number): void {
		this.usualMs = (tookMs + (this.usualMs ?? tookMs)) / 2;
	}

	/** Prepares a job before a generation is due to end, unless it has `ended` by then. `since`: when it began. */
	async prepareOne(since: number, ended: AbortSignal): Promise<void> {
		const { usualMs } = this;
		const { clock } = this.step;
		if (usualMs === null || !this.mayPrepare()) return;
		const dueAt = since + usualMs - Math.min(LEAD.mostMs, LEAD.fraction * usualMs);
		await clock.sleep(Math.max(0, dueAt - clock.now()), ended);
		const run = this.waiting.find(({ isPrepared }) => !isPrepared);
		if (!run || ended.aborted || !this.mayPrepare()) return;
		run.prepare();
		await clock.sleep(HOLD_MS, this.closing.signal);
		if (this.waiting.includes(run)) this.abandoned.push(run.abandon());
	}

	/** Takes back the reservations of jobs that were not taken. */
	async close(): Promise<void> {
		this.closing.abort();
		this.abandoned.push(...this.waiting.map(async (run) => await run.abandon()));
		await Promise.all(this.abandoned);
	}
}
