import { backoffDelay } from '../api/retry';
import type { Clock, Random } from '../ports';
import type { Memory } from './memory';

const DECIDE_EVERY_MS = 500;
/** Work due this soon keeps a run awake: n8n wakes executions only once a minute, so a short sleep would end late. */
const SOON_MS = 40_000;
const SHORTEST_REST_MS = 5_000;
const LONGEST_REST_MS = 1_800_000;
/** A generation is first checked at `LEAD` times the usual duration, then at `LATE` times its age at the previous check. */
const LEAD = 0.97;
const LATE = 1.1;
/** If no usual duration is known, the pause after a check is `part` of the generation's age, but at least `leastMs`. */
const UNKNOWN = { leastMs: 60_000, part: 1 / 6 };
/** A generation that is older than this multiple of the usual duration is checked as if no duration were known. */
const OVERDUE = 2;
/** Bounds in `isOvertime`: for the usual duration, and for the time awake as a fraction of the last sleep's length. */
const QUICK_MS = 150_000;
const AWAKE_PART = 0.19;
/** The pause after a status check in a run for which `isOvertime` is true. */
const OVERTIME_PAUSE_MS = 45_000;
/** A duration is measured if the checks before and after a generation's end are less than this part of its age apart. */
const TELLING_PART = 0.3;
const MOST_DURATIONS = 15;
/** In a run that may rest: longest pause between retries in an outage, or while other clients hold all slots. */
const LONGEST_PAUSE_MS = 120_000;

/**
 * Decides when a run rests, that is, ends early. A run rests once all of its jobs wait, and none of the waits ends soon.
 * Jobs declare their waits with `begin`. A job without a declared wait counts as working, and keeps the run awake.
 */
export class Rest {
	/** When the next run should begin; `null` if this run has not rested. */
	wakeAt: number | null = null;
	/** Number of generations that this run is watching. Each will free a slot. */
	running = 0;
	/** When a response last showed that the service works; `-Infinity` if none has in this run. */
	servedAt = -Infinity;
	/** Since when the service has been failing; `null` after a response that shows that it works. */
	downSince: number | null;
	/** True if the service was down at the end of the previous run. */
	private readonly wasDown: boolean;
	private readonly waits = new Set<() => number>();
	private readonly startedAt: number;
	private readonly sleptMs: number;
	private readonly durations: number[];

	constructor(
		private readonly clock: Clock,
		private readonly random: Random,
		{ durations, downSince, restedAt }: Memory,
	) {
		this.startedAt = clock.now();
		this.sleptMs = restedAt === 0 ? 0 : Math.max(0, this.startedAt - restedAt);
		this.durations = [...durations];
		this.downSince = downSince;
		this.wasDown = downSince !== null;
	}

	/** How long the most recent generations took, for the next run. */
	get lastDurations(): number[] {
		return this.durations.slice(-MOST_DURATIONS);
	}

	/** Declares that a job waits until about `until()`, which may be `Infinity`. Call the returned function after the wait. */
	begin(until: () => number): () => void {
		// Wrapped, because two jobs may pass the same function, and a Set would hold it only once.
		const wait = () => until();
		this.waits.add(wait);
		return () => this.waits.delete(wait);
	}

	/** When an item that waits for a slot should try again. `Infinity`: not before a generation of this run frees a slot. */
	slotAt(): number {
		return this.running > 0 ? Infinity : this.clock.now() + LONGEST_PAUSE_MS;
	}

	/** Delay before a retry (`retries` 0: the first), in ms. Always the longest in an outage that began in an earlier run. */
	backoff(retries: number): number {
		const isStillDown = this.wasDown && this.servedAt === -Infinity;
		return isStillDown
			? LONGEST_PAUSE_MS
			: backoffDelay(retries, this.random, LONGEST_PAUSE_MS / 1000);
	}

	served(): void {
		this.servedAt = this.clock.now();
		this.downSince = null;
	}

	failed(): void {
		this.downSince ??= this.clock.now();
	}

	/**
	 * Calls `rest` once, when all jobs wait and nothing is due soon.
	 *
	 * @param jobs returns the number of jobs that have begun and not ended
	 * @param rest ends all waits; creating requests in flight still return their ids
	 * @param end aborts when the run has ended
	 */
	async watch(jobs: () => number, rest: () => void, end: AbortSignal): Promise<void> {
		for (;;) {
			await this.clock.sleep(DECIDE_EVERY_MS, end);
			if (end.aborted) return;
			if (jobs() === 0 || jobs() > this.waits.size) continue;
			const now = this.clock.now();
			const first = [...this.waits].reduce((least, until) => Math.min(least, until()), Infinity);
			if (first - now <= (this.isOvertime ? SHORTEST_REST_MS : SOON_MS)) continue;
			const latest = Math.min(first, now + LONGEST_REST_MS);
			this.wakeAt = Math.max(now + SHORTEST_REST_MS, latest);
			return rest();
		}
	}

	/** Returns the age at which a generation, now `age` ms old, is checked next. `null`: soon, so `Watch` sets the time. */
	nextCheck(age: number): number | null {
		const usual = median(this.durations);
		if (usual === null || age > OVERDUE * usual) {
			return age < SOON_MS ? null : age + Math.max(UNKNOWN.leastMs, age * UNKNOWN.part);
		}
		const next = age < LEAD * usual ? LEAD * usual : LATE * age;
		if (next - age > SOON_MS) return next;
		return this.isOvertime ? age + OVERTIME_PAUSE_MS : null;
	}

	/** True once the run has been awake for long, and should rest. Not if generations are quick: slots would sit idle. */
	private get isOvertime(): boolean {
		const awakeMs = this.clock.now() - this.startedAt;
		const usual = median(this.durations) ?? 0;
		return usual > QUICK_MS && awakeMs > AWAKE_PART * this.sleptMs;
	}

	/** Learns from a generation that was found running at the age `from`, and had ended at the age `to`, in milliseconds. */
	ended(from: number, to: number): void {
		const usual = median(this.durations);
		const isTold = usual === null || to - from < TELLING_PART * to;
		// Stay near `from`. Too long an estimate would never be corrected, because all later checks would be late as well.
		const middle = from + Math.min((to - from) / 2, UNKNOWN.leastMs / 2);
		this.durations.push(isTold ? middle : Math.max(from, Math.min(usual, to) * LEAD));
	}
}

function median(values: number[]): number | null {
	const sorted = [...values].sort((one, other) => one - other);
	return sorted.length > 0 ? sorted[Math.floor(sorted.length / 2)] : null;
}
