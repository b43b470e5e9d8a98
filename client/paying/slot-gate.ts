import { onAbort } from '../basics/abort';
import type { Clock } from '../basics/ports';
import { CancelledError, sentences, type GenerationError } from '../wire/errors';
import type { Place, Slots, Turn } from './slots';

export interface SlotGatePorts {
	clock: Clock;
	/** Ends all waiting. */
	signal: AbortSignal;
	/** Which others may share. */
	slots: Slots;
}

/** One step's way to the slots of its account. */
export class SlotGate {
	/** Why nothing may be asked any more. */
	private closedBy: Error | null = null;
	private readonly standing = new Set<Place>();
	private standingSince = 0;
	/** Since when this step has been waiting for any slot. */
	private starvedSince: number | null = null;
	private waited = 0;

	constructor(private readonly ports: SlotGatePorts) {
		onAbort(ports.signal, () => this.wakeAll());
	}

	/** Milliseconds during which anybody stood in line for a slot. */
	get waitedMs(): number {
		return this.waited;
	}

	/** A place in the line, to be kept by whoever has to ask more than once. */
	arrive(): number {
		return this.ports.slots.arrive();
	}

	/**
	 * Waits until there may be a slot. Each turn ends in exactly one of `gained` here, and `refused` and `unused` of
	 * the slots.
	 *
	 * @param timeoutMs how long no slot at all may be gained before the item gives up
	 * @param arrival who came earlier has its turn earlier
	 * @throws the last refusal once the timeout has passed, what closed the way, or `CancelledError`
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

	/** The service had a slot: the step begins anew to wait for one. */
	gained(turn: Turn): void {
		this.starvedSince = null;
		this.ports.slots.gained(turn);
	}

	/** Nothing may be asked any more: whoever stands in line, or comes to it, learns why. */
	close(error: Error): void {
		this.closedBy ??= error;
		this.wakeAll();
	}

	/** @throws where nothing may leave any more */
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
			// What others have waited before this step came is no patience of its own.
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
			`No slot became free within ${timeoutMs / 1000} s, so this item was not sent and nothing was charged for it`,
			refusal.description,
		),
		retry: 'never',
	});
}
