import { CancelledError } from '../api/errors';
import { onAbort, withTimeout } from '../async';
import type { Clock, ProbeUrl } from '../ports';

/** A storage's statuses for a file that is not there yet. */
export const NOT_YET: ReadonlySet<number | null> = new Set([202, 204, 404]);

/** Probes per second, for a whole step: `each` for every running generation, but at least `least` and at most `most`. */
const PROBES_PER_SECOND = { least: 25, most: 40, each: 1.5 };
/** A first guess of the median duration, only to rank probes. Observed ages soon outweigh it. */
const PRIOR_SCALE_MS = 1_000;
/** Longest wait of a probe for its turn. */
const LONGEST_TURN_MS = 1_000;
/** Number of recently ended generations to remember. Older ones are dropped: a model may become slower or faster. */
const MOST_REMEMBERED = 128;

/** A generation whose output is probed. `since`: when the wait for it began. Times are milliseconds since the Unix epoch. */
export interface Probed {
	readonly since: number;
	/** When the generation was last found running. */
	readonly seenAt: number;
}

/**
 * Probes the output URLs of one step, at a limited rate. The probe that most likely finds a file is sent first: the
 * generations of the step that have ended show how long the others take.
 */
export class Prober {
	/** False once the storage proved unreliable: a cached 404, or a file long before its generation is final. */
	usable = true;
	/** Number of generations that are watched until they end. The more there are, the more probes are sent per second. */
	running = 0;
	private nextAt = 0;
	/** The generations that wait for a turn, each with the function that begins its turn. */
	private readonly waiting = new Map<Probed, () => void>();
	/** The ages at which generations were found ended, in milliseconds. Others probably end at these ages, too. */
	private readonly ages: number[] = [];
	private isServing = false;

	constructor(
		private readonly ports: {
			probe: ProbeUrl;
			clock: Clock;
			halt: AbortSignal;
		},
		private readonly intervalMs: number,
	) {}

	/** The age at which the most recently ended generation was found ended, in milliseconds; `null` if none has ended. */
	get lastAge(): number | null {
		return this.ages.at(-1) ?? null;
	}

	/** Remembers the age of a generation that was just found ended. */
	ended({ since }: Probed): void {
		this.ages.push(this.ports.clock.now() - since);
		if (this.ages.length > MOST_REMEMBERED) this.ages.shift();
	}

	/**
	 * Waits for a turn, and requests the first byte of an output (spec 4.3). One byte proves that the file exists: `ready`.
	 * A 403 or a status in `NOT_YET` proves that the file does not exist yet: `missing`. Any other response, such as a page,
	 * or none in time, proves nothing: `unusable`.
	 *
	 * @param until the latest time for the turn. The turn must also come within a second
	 * @param deadline the latest time for the response
	 * @returns what was found, and when the request was sent; `null` if the turn did not come in time
	 * @throws CancelledError once the step ends
	 */
	async probe(
		probed: Probed,
		url: string,
		until: number,
		deadline: number,
	): Promise<{ found: 'ready' | 'missing' | 'unusable'; at: number } | null> {
		const { clock, probe, halt } = this.ports;
		const turn = new AbortController();
		const begin = () => turn.abort('settled');
		this.waiting.set(probed, begin);
		void this.serve();
		const forget = onAbort(halt, begin);
		const leftMs = Math.min(until, deadline) - clock.now();
		await clock.sleep(Math.max(0, Math.min(leftMs, LONGEST_TURN_MS)), turn.signal);
		forget();
		const isLate = this.waiting.delete(probed);
		if (halt.aborted) throw new CancelledError();
		if (isLate) return null;
		const at = clock.now();
		const ms = Math.min(this.intervalMs, deadline - at);
		const probing = withTimeout(clock, ms, halt, async (signal) => await probe(url, signal));
		const { status = null, oneByte } = (await probing.catch(() => null)) ?? {};
		if (status === 403 || NOT_YET.has(status)) return { found: 'missing', at };
		return { found: (status === 200 || status === 206) && oneByte ? 'ready' : 'unusable', at };
	}

	private async serve(): Promise<void> {
		if (this.isServing) return;
		this.isServing = true;
		const { clock, halt } = this.ports;
		const { least, most, each } = PROBES_PER_SECOND;
		while (this.waiting.size > 0 && !halt.aborted) {
			const now = clock.now();
			if (now < this.nextAt) {
				await clock.sleep(this.nextAt - now, halt);
				continue;
			}
			const next = this.likeliest(now);
			const start = this.waiting.get(next);
			this.waiting.delete(next);
			this.nextAt = now + 1000 / Math.min(most, Math.max(least, each * this.running));
			start?.();
		}
		this.isServing = false;
	}

	/** The waiting generation that has most probably ended since it was last found running. */
	private likeliest(now: number): Probed {
		let [best, most] = [null as Probed | null, -1];
		for (const probed of this.waiting.keys()) {
			const [from, to] = [probed.seenAt - probed.since, now - probed.since];
			const later = this.ages.filter((age) => age > from);
			const prior = (to - from) / (to + PRIOR_SCALE_MS);
			const chance = (prior + later.filter((age) => age <= to).length) / (1 + later.length);
			if (chance > most) [best, most] = [probed, chance];
		}
		return best as Probed;
	}
}
