import { onAbort } from '../basics/abort';
import type { Clock, Random } from '../basics/ports';
import { backoffDelay } from '../wire/backoff';
import { CancelledError, sentences, type GenerationError } from '../wire/errors';

/** How often to ask for a slot that others may have left, in seconds. */
export interface Probing {
	/** The longest pause. Shorter ones keep the limit busier, longer ones cost fewer refused requests. */
	longestPause: number;
	/**
	 * A step that has had no slot for longer than this asks more and more often, or newcomers, who ask at once, would
	 * pass it by for ever.
	 */
	patience: number;
}

/** Chosen by `npm run bench`: two steps that share a limit, and thousands that do. */
const PROBING: Probing = { longestPause: 10, patience: 60 };

/** Nor does the most impatient step ask more often than one polls (spec 4.3). */
const LEAST_LONGEST_PAUSE = 3;

/** Until the one who asks on suspicion is answered, nobody else does. */
const PROBE_UNDER_WAY = Infinity;

export interface SlotGatePorts {
	clock: Clock;
	random: Random;
	/** Ends all waiting. */
	signal: AbortSignal;
	/** Where it is not the usual one. */
	probing?: Probing;
}

interface Place {
	arrival: number;
	wake: AbortController;
}

/** The leave to ask for a slot: one that is known to be free, or one that may be. */
export type Turn = 'free' | 'presumed';

/**
 * The way to the service's concurrent slots, which the whole account shares with others. Open until the service
 * answers 429 `CONCURRENCY_LIMIT_REACHED`. From then on as many items ask at once as slots are known to be free, because
 * generations of our own have ended, or may be presumed so: one after a backoff (spec 7, retry rule 1), and twice as
 * many with every one that gets through. First come, first served.
 */
export class SlotGate {
	private limited = false;
	/** Nothing is asked any more: nobody has to wait. */
	private isOpen = false;
	private free = 0;
	private presumed = 0;
	private refusals = 0;
	private probeAt = 0;
	/** When the waiting for any slot began; a slot gained or given back begins it anew. */
	private starvedSince: number | null = null;
	private arrivals = 0;
	/** Those who wait, in the order of their arrival. */
	private readonly line: Place[] = [];
	private lineSince = 0;
	private waited = 0;

	/** What the service last said of its slots; `null` where it always had one. */
	lastRefusal: GenerationError | null = null;

	constructor(private readonly ports: SlotGatePorts) {
		onAbort(ports.signal, () => this.line.forEach(({ wake }) => wake.abort()));
	}

	/** Milliseconds during which anybody stood in line for a slot. */
	get waitedMs(): number {
		return this.waited;
	}

	/** A place in the line, to be kept by whoever has to ask more than once. */
	arrive(): number {
		return this.arrivals++;
	}

	/**
	 * Waits until there may be a slot. Each turn ends in exactly one of `gained`, `refused` and `unused`.
	 *
	 * @param timeoutMs how long no slot at all may be gained before the item gives up
	 * @param arrival who came earlier has its turn earlier
	 * @throws the last refusal once the timeout has passed, or `CancelledError`
	 */
	async enter(timeoutMs: number, arrival = this.arrive()): Promise<Turn> {
		if (this.ports.signal.aborted) throw new CancelledError();
		if (!this.limited || this.isOpen) return 'free';
		const place: Place = { arrival, wake: new AbortController() };
		if (this.line.length === 0) this.lineSince = this.ports.clock.now();
		const later = this.line.findIndex((other) => other.arrival > arrival);
		this.line.splice(later < 0 ? this.line.length : later, 0, place);
		try {
			return await this.stand(place, timeoutMs);
		} finally {
			this.line.splice(this.line.indexOf(place), 1);
			if (this.line.length === 0) this.waited += this.ports.clock.now() - this.lineSince;
			this.wakeFirst();
		}
	}

	/** The service had a slot. One that was only presumed shows that others have left: there may be more. */
	gained(turn: Turn): void {
		this.starvedSince = null;
		if (turn === 'free') return;
		this.refusals = 0;
		this.presumed += 2;
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

	/** One of our own generations has ended: its slot is the account's again. Others' may have, too, before long. */
	release(): void {
		if (!this.limited) return;
		this.free++;
		this.starvedSince = this.ports.clock.now();
		this.refusals = 0;
		if (this.probeAt !== PROBE_UNDER_WAY) this.probeAt = Math.min(this.probeAt, this.nextProbe());
		this.wakeFirst();
	}

	/** Lets everybody pass from now on: whoever stands in line is to learn that nothing may be asked any more. */
	open(): void {
		this.isOpen = true;
		this.line.forEach(({ wake }) => wake.abort());
	}

	private async stand(place: Place, timeoutMs: number): Promise<Turn> {
		const { clock, signal } = this.ports;
		for (;;) {
			if (signal.aborted) throw new CancelledError();
			if (this.isOpen) return 'free';
			const now = clock.now();
			const first = this.line[0] === place;
			const turn = first ? this.take(now) : null;
			if (turn !== null) return turn;
			const giveUpAt = (this.starvedSince ?? now) + timeoutMs;
			if (now >= giveUpAt) throw this.starved(timeoutMs);
			place.wake = new AbortController();
			const until = first ? Math.min(this.probeAt, giveUpAt) : giveUpAt;
			await clock.sleep(until - now, place.wake.signal);
		}
	}

	/** The next turn, where there is one now. */
	private take(now: number): Turn | null {
		if (this.free > 0) {
			this.free--;
			return 'free';
		}
		if (this.presumed > 0) {
			this.presumed--;
			return 'presumed';
		}
		if (now < this.probeAt) return null;
		this.probeAt = PROBE_UNDER_WAY;
		return 'presumed';
	}

	private pause(): void {
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

	private starved(timeoutMs: number): GenerationError {
		const refusal = this.lastRefusal as GenerationError;
		return refusal.with({
			description: sentences(
				`No slot became free within ${timeoutMs / 1000} s, so this item was not sent and nothing was charged for it`,
				refusal.description,
			),
			retry: 'never',
		});
	}

	private wakeFirst(): void {
		this.line[0]?.wake.abort();
	}
}
