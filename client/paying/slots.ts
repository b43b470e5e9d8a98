import type { Clock, Random } from '../basics/ports';
import { backoffDelay } from '../wire/backoff';
import type { GenerationError } from '../wire/errors';

/** How often to ask for a slot that others may have left, in seconds. */
export interface Probing {
	/** The longest pause. Shorter ones keep the limit busier, longer ones cost fewer refused requests. */
	longestPause: number;
	/**
	 * Who has had no slot for longer than this asks more and more often, or newcomers, who ask at once, would pass by for
	 * ever.
	 */
	patience: number;
}

/** Chosen by `npm run bench`: two steps that share a limit, and thousands that do. */
const PROBING: Probing = { longestPause: 10, patience: 60 };

/** Nor does the most impatient ask more often than one polls (spec 4.3). */
const LEAST_LONGEST_PAUSE = 3;

/** Until the one who asks on suspicion is answered, nobody else does: for so long, as one answer may never come. */
const LONGEST_PROBE_MS = 10_000;

/** How many ended generations are remembered: more than can end before the last execution notices the end of one. */
const MOST_RELEASED = 10_000;

/** The leave to ask for a slot: one that is known to be free, or one that may be. */
export type Turn = 'free' | 'presumed';

/** Who stands in line for a slot. */
export interface Place {
	/** Who came earlier has its turn earlier. */
	arrival: number;
	wake: AbortController;
}

/**
 * What is known of the concurrent slots of an account, and the line of those who wait for one: the items of all steps
 * that share it. Until the service answers 429 `CONCURRENCY_LIMIT_REACHED` everybody may ask. From then on as many do at
 * once as slots are known to be free, because generations of theirs have ended, or may be presumed so, for the account
 * is used elsewhere, too: one after a backoff (spec 7, retry rule 1), and twice as many with every one that gets through.
 */
export class Slots {
	private limited = false;
	private free = 0;
	private presumed = 0;
	private refusals = 0;
	private probeAt = 0;
	/** Whether somebody is asking on suspicion. */
	private probing = false;
	private arrivals = 0;
	/** In the order of their arrival. */
	private readonly line: Place[] = [];
	/** Ids of generations whose slots were released, the newest last. Several executions may watch the same generation. */
	private readonly released = new Set<string>();

	/** When the waiting for any slot began; a slot gained or given back begins it anew. */
	starvedSince: number | null = null;
	/** What the service last said of its slots; `null` where it always had one. */
	lastRefusal: GenerationError | null = null;

	constructor(private readonly ports: { clock: Clock; random: Random; probing?: Probing }) {}

	/** Whether anybody has to wait for anything. */
	get isLimited(): boolean {
		return this.limited;
	}

	/** A place in the line, to be kept by whoever has to ask more than once. */
	arrive(): number {
		return this.arrivals++;
	}

	/** Stands in line, behind who came earlier. */
	join(place: Place): void {
		const later = this.line.findIndex(({ arrival }) => arrival > place.arrival);
		this.line.splice(later < 0 ? this.line.length : later, 0, place);
	}

	leave(place: Place): void {
		this.line.splice(this.line.indexOf(place), 1);
		this.wakeFirst();
	}

	/** The turn of a place, where it has one now. */
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

	/** When a place may have its turn if nothing happens before, in milliseconds since the Unix epoch. */
	dueAt(place: Place): number {
		return this.line[0] === place ? this.probeAt : Infinity;
	}

	/** The service had a slot. One that was only presumed shows that others have left: there may be more. */
	gained(turn: Turn): void {
		this.starvedSince = null;
		if (turn === 'free') return;
		this.probing = false;
		this.refusals = 0;
		this.presumed += 2;
		if (this.line.length === 0) this.forget();
		this.wakeFirst();
	}

	/** The service had none. */
	refused(turn: Turn, error: GenerationError): void {
		this.limited = true;
		this.lastRefusal = error;
		this.presumed = 0;
		this.starvedSince ??= this.ports.clock.now();
		if (turn === 'presumed') this.refusals++;
		this.pause();
	}

	/** The request came to something else: a slot that was known to be free still is. */
	unused(turn: Turn): void {
		if (!this.limited) return;
		if (turn === 'presumed') return this.pause();
		this.free++;
		this.wakeFirst();
	}

	/**
	 * A generation that was seen running has ended, so the account has one more free slot. Further calls with the same id
	 * change nothing.
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

	/** There is more room than anybody asks for: whoever comes next may ask at once. */
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

	/** In seconds, as is `starved`: how long there has been no slot at all. */
	private longestPause(starved: number): number {
		const { longestPause, patience } = this.ports.probing ?? PROBING;
		const impatience = Math.max(1, starved / patience);
		return Math.max(LEAST_LONGEST_PAUSE, longestPause / impatience);
	}

	private wakeFirst(): void {
		this.line[0]?.wake.abort();
	}
}
