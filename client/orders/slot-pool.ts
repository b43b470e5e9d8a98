import { onAbort } from '../async';
import type { Clock, Random } from '../ports';
import { Hold } from '../api/hold';
import { backoffDelay } from '../api/retry';
import { CancelledError, type GenerationError } from '../api/errors';
import { sentences } from '../text';

/** Longest pause between speculative requests (see `SlotPool`), in seconds. A shorter pause causes more rejections. */
const LONGEST_PAUSE = 10;
/** If a speculative request gets no response, the next one is sent after this time. */
const LONGEST_SPECULATION_MS = 10_000;

/**
 * Permission to send one creating request. Call the permit once, with the result of the request: `granted` if a generation
 * was created, `unused` if nothing was sent, the service's error if no slot was free, `failed` after any other error.
 */
export type Permit = (result: 'granted' | 'unused' | 'failed' | GenerationError) => void;

/** Whether a step may send creating requests, and how long its items wait for slots. */
export class StepGate {
	/** Milliseconds during which at least one item waited for a slot. */
	waitedMs = 0;
	waitingItems = 0;
	/** When the first wait for a slot began since this step last got one; `null` if there was none. */
	starvedSince: number | null = null;
	private waitingSince = 0;
	private readonly closing = new AbortController();
	/** Aborts once no request may be sent any more. Its reason is the error that `close` received. */
	readonly closed = this.closing.signal;

	constructor(private readonly halt: AbortSignal) {
		onAbort(halt, () => this.close(new CancelledError()));
	}

	/** Stops all further requests. Returns the error of the first call of `close`: waiting and later items get that error. */
	close(error: Error): Error {
		this.closing.abort(error);
		return this.closed.reason as Error;
	}

	/** @throws CancelledError or the error of `close`, if no request may be sent any more */
	requireOpen(): void {
		if (this.halt.aborted) throw new CancelledError();
		this.closed.throwIfAborted();
	}

	join(now: number): void {
		this.starvedSince ??= now;
		if (this.waitingItems++ === 0) this.waitingSince = now;
	}

	leave(now: number): void {
		if (--this.waitingItems === 0) this.waitedMs += now - this.waitingSince;
	}
}

/**
 * The concurrent slots of an account, and the queue for them. All steps of a process with the same credential share one
 * pool. Every request may be sent until the service answers 429 `CONCURRENCY_LIMIT_REACHED`. From then on a request needs a
 * slot that a generation has freed. Other clients also free slots, and the pool does not see that. So after each backoff
 * (spec 7, retry rule 1), one speculative request is sent without a known slot. If it succeeds, two more may follow.
 */
export class SlotPool {
	/** False while every request may be sent without waiting. */
	isLimited = false;
	/** The last 429 for a missing slot. */
	lastRefusal: GenerationError | null = null;
	private free = 0;
	private allowedSpeculations = 0;
	private refusals = 0;
	private speculateAt = 0;
	/** Until when the service has asked to wait because the account is full. Holds back only speculative requests. */
	private readonly hold: Hold;
	/** Since when no slot was gained: the first refusal or the latest release of a slot. `null` once one is gained. */
	private starvedSince: number | null = null;
	private tickets = 0;
	/** The items that wait, sorted by ticket. `wake` ends the current sleep of an item. */
	private readonly line: Array<{ ticket: number; wake: AbortController }> = [];

	constructor(private readonly ports: { clock: Clock; random: Random }) {
		this.hold = new Hold(ports.clock);
	}

	/** Returns a place in the queue. An item keeps it for all of its requests. */
	ticket(): number {
		return this.tickets++;
	}

	/**
	 * Waits until an item of a step may send a request. Gives up at the time `sendBy`. Also gives up once the step has
	 * waited for `timeoutMs`, and no slot of the pool was gained or released during that time.
	 *
	 * @throws the last refusal (GenerationError) if it gives up; the errors of `StepGate.requireOpen` if the gate closes
	 */
	async acquire(
		gate: StepGate,
		timeoutMs: number,
		ticket = this.ticket(),
		sendBy = Infinity,
	): Promise<Permit> {
		gate.requireOpen();
		if (!this.isLimited) return this.permit(gate, false);
		const { line } = this;
		const { clock } = this.ports;
		const waiter = { ticket, wake: new AbortController() };
		const forget = onAbort(gate.closed, () => waiter.wake.abort());
		gate.join(clock.now());
		line.push(waiter);
		line.sort((one, other) => one.ticket - other.ticket);
		try {
			for (;;) {
				gate.requireOpen();
				const isFirst = line[0] === waiter;
				const permit = isFirst ? this.take(gate) : null;
				if (permit) return permit;
				const now = clock.now();
				// Slots may have been missing before this step needed one. Only the time for which this step has waited counts.
				const since = Math.max(gate.starvedSince ?? now, this.starvedSince ?? now);
				const refusal = this.lastRefusal;
				const giveUpAt = refusal ? Math.min(since + timeoutMs, sendBy) : Infinity;
				if (refusal && now >= giveUpAt) throw noFreeSlot(refusal, timeoutMs);
				const retryAt = isFirst ? this.speculatesAt : Infinity;
				waiter.wake = new AbortController();
				await clock.sleep(Math.min(retryAt, giveUpAt) - now, waiter.wake.signal);
			}
		} finally {
			forget();
			line.splice(line.indexOf(waiter), 1);
			this.wakeFirst();
			gate.leave(clock.now());
		}
	}

	/** While slots are limited: frees the slot of a generation that was seen running and has ended. */
	release(): void {
		if (!this.isLimited) return;
		this.free++;
		this.starvedSince = this.ports.clock.now();
		this.refusals = 0;
		this.speculateAt = Math.min(this.speculateAt, this.nextSpeculation());
		this.wakeFirst();
	}

	/** Returns a permit for the first item in the line; `null` if it has to wait longer. */
	private take(gate: StepGate): Permit | null {
		if (this.free > 0) {
			this.free--;
			return this.permit(gate, false, true);
		}
		const now = this.ports.clock.now();
		if (now < this.speculatesAt) return null;
		if (this.allowedSpeculations > 0) this.allowedSpeculations--;
		else this.speculateAt = now + LONGEST_SPECULATION_MS;
		return this.permit(gate, true);
	}

	/** The earliest time of the next speculative request. */
	private get speculatesAt(): number {
		return Math.max(this.allowedSpeculations > 0 ? 0 : this.speculateAt, this.hold.until);
	}

	/** @param isKnown true if the request uses a freed slot; false if slots are not limited, or the request is speculative */
	private permit(gate: StepGate, isSpeculative: boolean, isKnown = false): Permit {
		return (result) => {
			if (result === 'granted') return this.granted(gate, isSpeculative);
			const isRefused = typeof result !== 'string';
			if (isRefused) this.refused(isSpeculative, result);
			if (isRefused || isSpeculative) {
				// Pause after a refusal. Pause after any other failure only if slots were refused before.
				const isOpen = result === 'unused' || (result === 'failed' && this.refusals === 0);
				this.speculateAt = isOpen ? 0 : this.nextSpeculation();
			} else if (this.isLimited && isKnown) {
				// The request did not take the known free slot, so that slot is still free.
				this.free++;
			}
			this.wakeFirst();
		};
	}

	private granted(gate: StepGate, isSpeculative: boolean): void {
		gate.starvedSince = null;
		this.starvedSince = null;
		if (!isSpeculative) return;
		this.refusals = 0;
		// Other clients have freed this slot, and may have freed more.
		this.allowedSpeculations += 2;
		this.wakeFirst();
		// While items wait, or the service has asked to wait (`Retry-After`), the limit stays.
		if (this.line.length > 0 || this.hold.leftMs > 0) return;
		// A slot was free and no item waits for another, so slots are not limited until the next refusal.
		this.isLimited = false;
		this.free = 0;
		this.allowedSpeculations = 0;
	}

	private refused(isSpeculative: boolean, error: GenerationError): void {
		this.isLimited = true;
		this.lastRefusal = error;
		this.hold.note(error);
		this.allowedSpeculations = 0;
		this.starvedSince ??= this.ports.clock.now();
		if (isSpeculative) this.refusals++;
	}

	private nextSpeculation(): number {
		const { clock, random } = this.ports;
		return clock.now() + backoffDelay(this.refusals, random, LONGEST_PAUSE);
	}

	private wakeFirst(): void {
		this.line[0]?.wake.abort();
	}
}

function noFreeSlot(refusal: GenerationError, timeoutMs: number): GenerationError {
	return refusal.with({
		description: sentences(
			`No slot became free within ${timeoutMs / 1000} s, so this item was not sent`,
			refusal.description,
		),
		retry: 'never',
	});
}
