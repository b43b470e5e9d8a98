import { onAbort } from '../async';
import type { Clock } from '../ports';
import { CancelledError, type GenerationError } from '../api/errors';
import { sentences } from '../text';
import type { Place, Slots, Turn } from './slots';

export interface SlotGatePorts {
	clock: Clock;
	/** Ends all waits. */
	signal: AbortSignal;
	/** The slots of the account, possibly shared with other steps. */
	slots: Slots;
}

/** One step's access to the slots of its account. */
export class SlotGate {
	/** The error that stops all further requests, if there is one. */
	private closedBy: Error | null = null;
	private readonly standing = new Set<Place>();
	private standingSince = 0;
	/** Start of the time during which this step has gained no slot. */
	private starvedSince: number | null = null;
	private waited = 0;

	constructor(private readonly ports: SlotGatePorts) {
		onAbort(ports.signal, () => this.wakeAll());
	}

	/** Milliseconds during which at least one item waited for a slot. */
	get waitedMs(): number {
		return this.waited;
	}

	/** Number of items of this step that wait for a slot. */
	get waiting(): number {
		return this.standing.size;
	}

	/** Returns a position in the queue. An item keeps it for all of its requests. */
	arrive(): number {
		return this.ports.slots.arrive();
	}

	/**
	 * Waits until a request may be sent. The caller ends each turn with exactly one call: `gained` here, or `refused`
	 * or `unused` of the slots.
	 *
	 * @param timeoutMs time without any gained slot after which the item gives up
	 * @param arrival position in the queue; lower numbers go first
	 * @throws GenerationError with the last refusal after the timeout, the error that closed the gate, or
	 * CancelledError
	 */
	async enter(timeoutMs: number, arrival = this.arrive()): Promise<Turn> {
		const { clock, slots } = this.ports;
		this.requireOpen();
		if (!slots.isLimited) return 'free';
		const place: Place = { arrival, wake: new AbortController() };
		this.starvedSince ??= clock.now();
		if (this.standing.size === 0) this.standingSince = clock.now();
		this.standing.add(place);
		slots.join(place);
		try {
			return await this.stand(place, timeoutMs);
		} finally {
			slots.leave(place);
			this.standing.delete(place);
			if (this.standing.size === 0) this.waited += clock.now() - this.standingSince;
		}
	}

	/** Records that the service had a slot. The step's timeout for slots starts again. */
	gained(turn: Turn): void {
		this.starvedSince = null;
		this.ports.slots.gained(turn);
	}

	/** Stops all further requests. Waiting items and later ones get the given error. */
	close(error: Error): void {
		this.closedBy ??= error;
		this.wakeAll();
	}

	/** @throws CancelledError or the error that closed the gate, if no request may be sent any more */
	requireOpen(): void {
		if (this.ports.signal.aborted) throw new CancelledError();
		if (this.closedBy) throw this.closedBy;
	}

	private async stand(place: Place, timeoutMs: number): Promise<Turn> {
		const { clock, slots } = this.ports;
		for (;;) {
			this.requireOpen();
			const turn = slots.take(place);
			if (turn !== null) return turn;
			const now = clock.now();
			// The time that others waited before this step started does not count.
			const since = Math.max(this.starvedSince ?? now, slots.starvedSince ?? now);
			const giveUpAt = since + timeoutMs;
			if (now >= giveUpAt) throw starved(slots.lastRefusal as GenerationError, timeoutMs);
			place.wake = new AbortController();
			await clock.sleep(Math.min(slots.dueAt(place), giveUpAt) - now, place.wake.signal);
		}
	}

	private wakeAll(): void {
		this.standing.forEach(({ wake }) => wake.abort());
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
