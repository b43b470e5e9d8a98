import type { Clock } from '../ports';

/**
 * Decides when a step that may sleep goes to sleep. A shift is the time that a wave is awake: it submits and collects, and
 * ends when no generation is due to end soon.
 */

/** How often the decision is made. */
const DECIDE_EVERY_MS = 500;
/**
 * An end that is due within this time is due soon. n8n looks for executions to wake once a minute, so a sleep that is
 * much shorter would often end late.
 */
const SOON_MS = 40_000;
const SHORTEST_SLEEP_MS = 5_000;
const LONGEST_SLEEP_MS = 1_800_000;
/** The sleep ends before the next end is due, by this part of the usual duration. */
const LEAD_PART = 0.03;
/**
 * If generations usually take at most this long, a shift stays awake without a time limit while one is due to end soon:
 * sleeping would leave their slots idle too often.
 */
const QUICK_MS = 150_000;
/** For longer generations, a shift stays awake for at most this part of the length of the sleep before it. */
const AWAKE_PART = 0.16;
/** While no duration is known, the next sleep lasts this part of the longest wait so far. */
const UNKNOWN_PART = 1 / 6;
/** The remaining time of a generation that takes longer than usual, as a part of its age. */
const LATE_PART = 0.1;
/** A sleep that was longer than this part of a duration says little about the duration. */
const TELLING_PART = 0.3;
/** A generation that ended during such a long sleep is assumed to have taken about this part of the usual duration. */
const SHORTER = 0.97;
/** Number of durations to remember. */
const MOST_DURATIONS = 15;

/** What a shift needs to know of earlier ones. The durations are stored while the execution sleeps. */
interface ShiftState {
	/** Length of the sleep before this shift, in milliseconds; 0 before the first one. */
	sleptMs: number;
	/** Durations of the last generations, in milliseconds. */
	durations: number[];
}

/** What the jobs of a step are doing. */
interface Progress {
	/** Number of jobs that look up, submit or retry. */
	starting: number;
	/** How many of these wait, such as for a slot or after an error, and can begin again after a sleep. */
	waiting: number;
	/** When the first of these waits ends, if that is known; otherwise `Infinity`. */
	pausedUntil: number;
	/** Until when the service has asked to send nothing (`Retry-After`); may be over. */
	heldUntil: number;
	/** Start of the wait for each running generation. */
	runningSince: number[];
	/** When the first of these waits times out; `Infinity` if none runs. */
	deadline: number;
}

/** Decides when a wave goes to rest, and learns how long generations take. */
export class Shift {
	/**
	 * When the next shift should begin, in milliseconds since the Unix epoch. `null` if its jobs
	 * ended first.
	 */
	nextShiftAt: number | null = null;
	private readonly startedAt: number;
	private readonly durations: number[];

	constructor(
		private readonly clock: Clock,
		private readonly state: ShiftState,
	) {
		this.startedAt = clock.now();
		this.durations = [...state.durations];
	}

	/** The newest durations, to be stored for the next shift. */
	get lastDurations(): number[] {
		return this.durations.slice(-MOST_DURATIONS);
	}

	/** Call this when a generation has ended. `seen`: it was seen running, so that the duration is exact. */
	ended(tookMs: number, seen: boolean): void {
		this.durations.push(seen ? tookMs : this.guessed(tookMs));
	}

	/**
	 * The duration of a generation that ended during the sleep.
	 *
	 * @param tookMs from its start to the end of the sleep
	 */
	private guessed(tookMs: number): number {
		const usual = median(this.durations);
		const sleptMs = Math.min(this.state.sleptMs, tookMs);
		if (usual === null || sleptMs < TELLING_PART * tookMs) return tookMs - sleptMs / 2;
		// Otherwise an estimate that is too long would never be noticed.
		return Math.max(tookMs - sleptMs, Math.min(usual, tookMs) * SHORTER);
	}

	/**
	 * Watches the progress while the step runs, and calls `rest` once when the step should sleep.
	 *
	 * @param rest ends all waits; requests in flight still return their ids
	 * @param end aborts when the pipeline has ended
	 */
	async run(progress: () => Progress, rest: () => void, end: AbortSignal): Promise<void> {
		for (;;) {
			await this.clock.sleep(DECIDE_EVERY_MS, end);
			if (end.aborted) return;
			const { starting, waiting, pausedUntil, heldUntil, runningSince, deadline } = progress();
			if (starting > waiting || starting + runningSince.length === 0) continue;
			const now = this.clock.now();
			const nextEndMs = this.nextEndMs(runningSince.map((since) => now - since));
			if (pausedUntil - now <= SOON_MS) continue;
			// Nothing is noticed before the service may be asked again.
			if (this.isWorthWaiting(Math.max(nextEndMs, heldUntil - now))) continue;
			const lead = LEAD_PART * (median(this.durations) ?? 0);
			const nextMs = Math.min(nextEndMs - lead, pausedUntil - now);
			const dueMs = Math.max(nextMs === Infinity ? 0 : nextMs, heldUntil - now);
			const wakeAt = Math.min(now + Math.min(dueMs, LONGEST_SLEEP_MS), deadline);
			this.nextShiftAt = Math.max(now + SHORTEST_SLEEP_MS, wakeAt);
			return rest();
		}
	}

	private isWorthWaiting(nextEndMs: number): boolean {
		const usual = median(this.durations);
		if (usual === null || nextEndMs > SOON_MS) return false;
		const awakeMs = this.clock.now() - this.startedAt;
		return usual <= QUICK_MS || awakeMs < AWAKE_PART * this.state.sleptMs;
	}

	/** Milliseconds until the next generation is expected to end. `Infinity` if none is running. */
	private nextEndMs(ages: number[]): number {
		const usual = median(this.durations);
		if (ages.length === 0) return Infinity;
		if (usual === null) return UNKNOWN_PART * Math.max(...ages);
		return Math.min(...ages.map((age) => (age < usual ? usual - age : LATE_PART * age)));
	}
}

function median(values: number[]): number | null {
	const sorted = [...values].sort((one, other) => one - other);
	return sorted.length > 0 ? sorted[Math.floor(sorted.length / 2)] : null;
}
