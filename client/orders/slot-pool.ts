import { onAbort } from '../async';
import type { Clock, Random } from '../ports';
import { backoffDelay } from '../api/retry';
import { CancelledError, type GenerationError } from '../api/errors';
import { sentences } from '../text';

/** How often to ask for slots that other clients may have freed, in seconds. */
export interface Probing {
	/** Maximum pause. Shorter pauses keep the limit busier; longer ones cause fewer refused requests. */
	longestPause: number;
	/**
	 * After this time without a slot, in seconds, the maximum pause shrinks. Otherwise new clients, whose first request
	 * does not wait, would always be faster.
	 */
	patience: number;
}

/** Measured with `npm run bench`, with two steps and with thousands that share a limit. */
const PROBING: Probing = { longestPause: 10, patience: 60 };
/** Lower bound of the maximum pause, in seconds: the recommended polling interval (spec 4.3). */
const LEAST_LONGEST_PAUSE = 3;
/** A speculative request blocks the others for at most this long, because its response may never come. */
const LONGEST_PROBE_MS = 10_000;
/** Number of ended generations to remember. More than can end before the last execution notices one of them. */
const MOST_RELEASED = 10_000;

/** Permission to send one creating request. */
export interface Permit {
	/** Call this once with the result of the request: an error if the service rejected it because no slot was free. */
	report(result: 'granted' | 'unused' | GenerationError): void;
}

/** An item that waits for a slot. */
interface Waiter {
	/** Position in the queue: lower numbers go first. */
	ticket: number;
	wake: AbortController;
}

/**
 * The concurrent slots of an account, and the queue for them. All steps that use the account share it.
 *
 * Every request may be sent until the service answers 429 `CONCURRENCY_LIMIT_REACHED`. From then on a request needs a
 * free slot. A slot is known to be free when a generation has ended.
 *
 * Other clients use the account too, so one speculative request follows each backoff (spec 7, retry rule 1). Each one
 * that succeeds allows two more.
 */
export class SlotPool {
	/** False while every request may be sent without waiting. */
	isLimited = false;
	private free = 0;
	private speculative = 0;
	private refusals = 0;
	private probeAt = 0;
	/** True while a speculative request is in flight. */
	private probing = false;
	private tickets = 0;
	/** Sorted by ticket. */
	private readonly line: Waiter[] = [];
	/** Ids of generations whose slots were released, the newest last. Several executions may watch the same one. */
	private readonly released = new Set<string>();

	/** Start of the wait for any slot; `null` once one is gained. A released slot restarts it. */
	starvedSince: number | null = null;
	/** The last 429 for a missing slot; `null` if there was none. */
	lastRefusal: GenerationError | null = null;

	constructor(private readonly ports: { clock: Clock; random: Random; probing?: Probing }) {}

	/** Returns a position in the queue. An item keeps it for all of its requests. */
	ticket(): number {
		return this.tickets++;
	}

	/** Adds an item to the queue. Returns a function that removes it. */
	join(waiter: Waiter): () => void {
		const later = this.line.findIndex(({ ticket }) => ticket > waiter.ticket);
		this.line.splice(later < 0 ? this.line.length : later, 0, waiter);
		return () => {
			this.line.splice(this.line.indexOf(waiter), 1);
			this.wakeFirst();
		};
	}

	/** Returns the permit of an item; else when to try again, as `Clock.now`. */
	take(waiter?: Waiter): Permit | number {
		if (!this.isLimited) return this.permit(false);
		if (this.line[0] !== waiter) return Infinity;
		if (this.free > 0) {
			this.free--;
			return this.permit(false);
		}
		if (this.speculative > 0) {
			this.speculative--;
			return this.permit(true);
		}
		const now = this.ports.clock.now();
		if (now < this.probeAt) return this.probeAt;
		this.probing = true;
		this.probeAt = now + LONGEST_PROBE_MS;
		return this.permit(true);
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
		if (!this.isLimited) return;
		this.free++;
		this.starvedSince = this.ports.clock.now();
		this.refusals = 0;
		if (!this.probing) this.probeAt = Math.min(this.probeAt, this.nextProbe());
		this.wakeFirst();
	}

	private permit(isSpeculative: boolean): Permit {
		return {
			report: (result) => {
				if (result === 'granted') this.granted(isSpeculative);
				else if (result === 'unused') this.unused(isSpeculative);
				else this.refused(isSpeculative, result);
			},
		};
	}

	private granted(isSpeculative: boolean): void {
		this.starvedSince = null;
		if (!isSpeculative) return;
		this.probing = false;
		this.refusals = 0;
		// Other clients freed slots: there may be more.
		this.speculative += 2;
		if (this.line.length === 0) {
			// More slots are free than items wait, so the limit is lifted until the next refusal.
			this.isLimited = false;
			this.free = 0;
			this.speculative = 0;
		}
		this.wakeFirst();
	}

	private refused(isSpeculative: boolean, error: GenerationError): void {
		this.isLimited = true;
		this.lastRefusal = error;
		this.speculative = 0;
		this.starvedSince ??= this.ports.clock.now();
		if (isSpeculative) this.refusals++;
		this.pause();
	}

	/** A slot that was known to be free still is. */
	private unused(isSpeculative: boolean): void {
		if (!this.isLimited) return;
		if (isSpeculative) return this.pause();
		this.free++;
		this.wakeFirst();
	}

	private pause(): void {
		this.probing = false;
		this.probeAt = this.nextProbe();
		this.wakeFirst();
	}

	private nextProbe(): number {
		const { clock, random, probing = PROBING } = this.ports;
		const starved = (clock.now() - (this.starvedSince ?? clock.now())) / 1000;
		const impatience = Math.max(1, starved / probing.patience);
		const longestPause = Math.max(LEAST_LONGEST_PAUSE, probing.longestPause / impatience);
		return clock.now() + backoffDelay(this.refusals, random, longestPause);
	}

	private wakeFirst(): void {
		this.line[0]?.wake.abort();
	}
}

/** One step's access to the slots of its account. */
export class StepSlots {
	/** The error that stops all further requests, if there is one. */
	private closedBy: Error | null = null;
	private readonly waiting = new Set<Waiter>();
	private waitingSince = 0;
	/** Start of the time during which this step has gained no slot. */
	private starvedSince: number | null = null;
	/** Milliseconds during which at least one item waited for a slot. */
	waitedMs = 0;

	/** @param signal ends all waits */
	constructor(
		private readonly pool: SlotPool,
		private readonly clock: Clock,
		private readonly signal: AbortSignal,
	) {
		onAbort(signal, () => this.wakeAll());
	}

	/**
	 * Waits until a request may be sent.
	 *
	 * @param timeoutMs time without any gained slot after which the item gives up
	 * @throws GenerationError with the last refusal after the timeout, the error of `close`, or CancelledError
	 */
	async acquire(timeoutMs: number, ticket = this.pool.ticket()): Promise<Permit> {
		this.requireOpen();
		const { clock, pool, waiting } = this;
		if (!pool.isLimited) return this.counted(pool.take() as Permit);
		const waiter: Waiter = { ticket, wake: new AbortController() };
		this.starvedSince ??= clock.now();
		if (waiting.size === 0) this.waitingSince = clock.now();
		waiting.add(waiter);
		const leave = pool.join(waiter);
		try {
			return await this.wait(waiter, timeoutMs);
		} finally {
			leave();
			waiting.delete(waiter);
			if (waiting.size === 0) this.waitedMs += clock.now() - this.waitingSince;
		}
	}

	/** Number of items of this step that wait for a slot. */
	get waitingItems(): number {
		return this.waiting.size;
	}

	/** Stops all further requests. Waiting items and later ones get the given error. */
	close(error: Error): void {
		this.closedBy ??= error;
		this.wakeAll();
	}

	/** @throws CancelledError or the error of `close`, if no request may be sent any more */
	requireOpen(): void {
		if (this.signal.aborted) throw new CancelledError();
		if (this.closedBy) throw this.closedBy;
	}

	private async wait(waiter: Waiter, timeoutMs: number): Promise<Permit> {
		const { clock, pool } = this;
		for (;;) {
			this.requireOpen();
			const taken = pool.take(waiter);
			if (typeof taken !== 'number') return this.counted(taken);
			const now = clock.now();
			// The time that others waited before this step started does not count.
			const since = Math.max(this.starvedSince ?? now, pool.starvedSince ?? now);
			const giveUpAt = since + timeoutMs;
			if (now >= giveUpAt) throw starved(pool.lastRefusal as GenerationError, timeoutMs);
			waiter.wake = new AbortController();
			await clock.sleep(Math.min(taken, giveUpAt) - now, waiter.wake.signal);
		}
	}

	/** A granted request restarts the step's timeout for slots. */
	private counted(permit: Permit): Permit {
		return {
			report: (result) => {
				if (result === 'granted') this.starvedSince = null;
				permit.report(result);
			},
		};
	}

	private wakeAll(): void {
		this.waiting.forEach(({ wake }) => wake.abort());
	}
}

function starved(refusal: GenerationError, timeoutMs: number): GenerationError {
	return refusal.with({
		description: sentences(
			`No slot became free within ${timeoutMs / 1000} s, so this item was not sent`,
			refusal.description,
		),
		retry: 'never',
	});
}
