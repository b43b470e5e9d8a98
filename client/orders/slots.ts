import type { Clock, Random } from '../basics/ports';
import { backoffDelay } from '../wire/backoff';
import type { GenerationError } from '../wire/errors';

/** How often to probe for slots that other clients may have freed, in seconds. */
export interface Probing {
	/** Maximum pause. Shorter pauses keep the limit busier; longer ones cause fewer refused requests. */
	longestPause: number;
	/**
	 * After this time without a slot, the maximum pause becomes shorter and shorter. Otherwise newcomers, which send
	 * at once, would always be faster.
	 */
	patience: number;
}

/** Chosen with `npm run bench`, for two steps and for thousands that share a limit. */
const PROBING: Probing = { longestPause: 10, patience: 60 };

/** Lower bound of the maximum pause, in seconds: the recommended polling interval (spec 4.3). */
const LEAST_LONGEST_PAUSE = 3;

/**
 * Only one speculative request at a time. It blocks the others for at most this long, because its response may never
 * come.
 */
const LONGEST_PROBE_MS = 10_000;

/** Number of ended generations to remember. More than can end before the last execution notices one of them. */
const MOST_RELEASED = 10_000;

/** Permission to send a creating request. `free`: a slot is known to be free. `presumed`: one may be free. */
export type Turn = 'free' | 'presumed';

/** An item that waits for a slot. */
export interface Place {
	/** Position in the queue: lower numbers go first. */
	arrival: number;
	wake: AbortController;
}

/**
 * The concurrent slots of an account, and the queue for them. All steps that use the account share it.
 *
 * Every request may be sent until the service answers 429 `CONCURRENCY_LIMIT_REACHED`. From then on a request needs a
 * free slot. A slot is known to be free when a generation has ended.
 *
 * Other clients use the account too, so slots may also be presumed free. One speculative request follows each backoff
 * (spec 7, retry rule 1). Each one that succeeds allows two more.
 */
export class Slots {
	private limited = false;
	private free = 0;
	private presumed = 0;
	private refusals = 0;
	private probeAt = 0;
	/** True while a speculative request is in flight. */
	private probing = false;
	private arrivals = 0;
	/** Sorted by arrival. */
	private readonly line: Place[] = [];
	/**
	 * Ids of generations whose slots were released, the newest last. Several executions may watch the same
	 * generation.
	 */
	private readonly released = new Set<string>();

	/** Start of the wait for any slot; `null` once one is gained. A released slot restarts it. */
	starvedSince: number | null = null;
	/** The last 429 for a missing slot; `null` if there was none. */
	lastRefusal: GenerationError | null = null;

	constructor(private readonly ports: { clock: Clock; random: Random; probing?: Probing }) {}

	/** False while every request may be sent at once. */
	get isLimited(): boolean {
		return this.limited;
	}

	/** Returns a position in the queue. An item keeps it for all of its requests. */
	arrive(): number {
		return this.arrivals++;
	}

	/** Adds an item to the queue, behind earlier arrivals. */
	join(place: Place): void {
		const later = this.line.findIndex(({ arrival }) => arrival > place.arrival);
		this.line.splice(later < 0 ? this.line.length : later, 0, place);
	}

	leave(place: Place): void {
		this.line.splice(this.line.indexOf(place), 1);
		this.wakeFirst();
	}

	/** Returns the turn of an item; `null` if it has to wait. */
	take(place: Place): Turn | null {
		if (this.line[0] !== place) return null;
		if (this.free > 0) {
			this.free--;
			return 'free';
		}
		if (this.presumed > 0) {
			this.presumed--;
			return 'presumed';
		}
		const now = this.ports.clock.now();
		if (now < this.probeAt) return null;
		this.probing = true;
		this.probeAt = now + LONGEST_PROBE_MS;
		return 'presumed';
	}

	/**
	 * When an item may send a speculative request, in milliseconds since the Unix epoch. `Infinity` if it is not the
	 * first.
	 */
	dueAt(place: Place): number {
		return this.line[0] === place ? this.probeAt : Infinity;
	}

	/**
	 * Records that the service had a slot. A successful speculative request shows that other clients freed slots:
	 * there may be more.
	 */
	gained(turn: Turn): void {
		this.starvedSince = null;
		if (turn === 'free') return;
		this.probing = false;
		this.refusals = 0;
		this.presumed += 2;
		if (this.line.length === 0) this.forget();
		this.wakeFirst();
	}

	/** Records that the service had no slot. */
	refused(turn: Turn, error: GenerationError): void {
		this.limited = true;
		this.lastRefusal = error;
		this.presumed = 0;
		this.starvedSince ??= this.ports.clock.now();
		if (turn === 'presumed') this.refusals++;
		this.pause();
	}

	/** Records a request that used no slot. A slot that was known to be free still is. */
	unused(turn: Turn): void {
		if (!this.limited) return;
		if (turn === 'presumed') return this.pause();
		this.free++;
		this.wakeFirst();
	}

	/**
	 * Frees the slot of a generation that was seen running and has ended. Repeated calls with the same id have no
	 * effect.
	 */
	release(id: string): void {
		if (this.released.has(id)) return;
		this.released.add(id);
		const [oldest] = this.released;
		if (this.released.size > MOST_RELEASED) this.released.delete(oldest);
		if (!this.limited) return;
		this.free++;
		this.starvedSince = this.ports.clock.now();
		this.refusals = 0;
		if (!this.probing) this.probeAt = Math.min(this.probeAt, this.nextProbe());
		this.wakeFirst();
	}

	/** More slots are free than items wait: lifts the limit until the next refusal. */
	private forget(): void {
		this.limited = false;
		this.free = 0;
		this.presumed = 0;
	}

	private pause(): void {
		this.probing = false;
		this.probeAt = this.nextProbe();
		this.wakeFirst();
	}

	private nextProbe(): number {
		const { clock, random } = this.ports;
		const starved = (clock.now() - (this.starvedSince ?? clock.now())) / 1000;
		return clock.now() + backoffDelay(this.refusals, random, this.longestPause(starved));
	}

	/**
	 * @param starved seconds without any slot
	 * @returns the maximum pause, in seconds
	 */
	private longestPause(starved: number): number {
		const { longestPause, patience } = this.ports.probing ?? PROBING;
		const impatience = Math.max(1, starved / patience);
		return Math.max(LEAST_LONGEST_PAUSE, longestPause / impatience);
	}

	private wakeFirst(): void {
		this.line[0]?.wake.abort();
	}
}
