import { onAbort } from '../basics/abort';
import { attempt } from '../basics/attempt';
import { backoffDelay } from '../wire/backoff';
import { CancelledError, GenerationError, sentences } from '../wire/errors';
import type { Clock, Random } from '../basics/ports';

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

export interface SlotGatePorts {
	clock: Clock;
	random: Random;
	/** Ends all waiting. */
	signal: AbortSignal;
	/** Where it is not the usual one. */
	probing?: Probing;
}

/**
 * The way to the service's concurrent slots, which the whole account shares with others. Open until the service
 * answers 429 `CONCURRENCY_LIMIT_REACHED`; from then on one item at a time asks for a slot: when one of our own
 * generations has finished, else after a backoff (spec 7, retry rule 1).
 */
export class SlotGate {
	private limited = false;
	/** Slots that our own generations have given back, or that a successful probe suggests. */
	private free = 0;
	private refusals = 0;
	private probeAt = 0;
	/** When the waiting for any slot began; a slot gained or given back begins it anew. */
	private starvedSince: number | null = null;
	private line: Promise<unknown> = Promise.resolve();
	private wake = new AbortController();

	/** Milliseconds during which items stood in line for a slot. */
	waitedMs = 0;

	/** What the service last said of its slots; `null` where it always had one. */
	lastRefusal: GenerationError | null = null;

	constructor(private readonly ports: SlotGatePorts) {
		onAbort(ports.signal, () => this.wakeUp());
	}

	/**
	 * Runs a creating request as soon as there may be a slot for it, and again for as long as there is none.
	 *
	 * @param timeoutMs how long no slot at all may be gained before the item gives up
	 * @throws what `create` throws, the last refusal once the timeout has passed, or `CancelledError`
	 */
	async pass<T>(create: () => Promise<T>, timeoutMs: number): Promise<T> {
		if (!this.limited) {
			const made = await this.ask(create);
			if (made !== undefined) return made.result;
		}
		return await this.inLine(async () => await this.createWhenFree(create, timeoutMs));
	}

	/** One of our own generations has finished: its slot is the account's again. */
	release(): void {
		if (!this.limited) return;
		this.free++;
		this.starvedSince = this.ports.clock.now();
		this.wakeUp();
	}

	private async createWhenFree<T>(create: () => Promise<T>, timeoutMs: number): Promise<T> {
		for (;;) {
			const probing = await this.slotOrProbe(timeoutMs);
			const made = await this.ask(create);
			if (made === undefined) continue;
			this.starvedSince = null;
			// A probe that went through shows that others have left: see at once whether there is more room.
			if (probing) {
				this.refusals = 0;
				this.free++;
			}
			return made.result;
		}
	}

	/** @returns `undefined` where the service has no slot */
	private async ask<T>(create: () => Promise<T>): Promise<{ result: T } | undefined> {
		const tried = await attempt(create);
		if (tried.ok) return { result: tried.value };
		const { error } = tried;
		if (!(error instanceof GenerationError) || error.retry !== 'slot') throw error;
		this.refused(error);
		return undefined;
	}

	private refused(error: GenerationError): void {
		const now = this.ports.clock.now();
		this.limited = true;
		this.lastRefusal = error;
		this.starvedSince ??= now;
		const longest = this.longestPause((now - this.starvedSince) / 1000);
		this.probeAt = now + backoffDelay(this.refusals++, this.ports.random, longest);
	}

	/** In seconds, as is `starved`: how long there has been no slot at all. */
	private longestPause(starved: number): number {
		const { longestPause, patience } = this.ports.probing ?? PROBING;
		const impatience = Math.max(1, starved / patience);
		return Math.max(LEAST_LONGEST_PAUSE, longestPause / impatience);
	}

	/** Waits until asking makes sense again. @returns whether it is only a probe, no slot being known to be free */
	private async slotOrProbe(timeoutMs: number): Promise<boolean> {
		const { clock, signal } = this.ports;
		for (;;) {
			if (signal.aborted) throw new CancelledError();
			if (this.free > 0) {
				this.free--;
				return false;
			}
			const now = clock.now();
			const giveUpAt = (this.starvedSince ?? now) + timeoutMs;
			if (now >= giveUpAt) throw this.starved(timeoutMs);
			if (now >= this.probeAt) return true;
			await clock.sleep(Math.min(this.probeAt, giveUpAt) - now, this.wake.signal);
			this.waitedMs += clock.now() - now;
		}
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

	private wakeUp(): void {
		const sleeping = this.wake;
		this.wake = new AbortController();
		sleeping.abort();
	}

	/** First come, first served. */
	private async inLine<T>(run: () => Promise<T>): Promise<T> {
		const turn = this.line.then(run);
		this.line = turn.catch(() => undefined);
		return await turn;
	}
}
