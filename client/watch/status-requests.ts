import type { Clock, Random } from '../ports';
import { within } from '../async';
import { withRetries } from '../api/retry';
import { CancelledError, GenerationError } from '../api/errors';
import { isFailed, isFinal, type Generation } from '../api/generation';
import type { GenerationService } from '../api/client';

/** Dependencies of status checks. */
export interface LookPorts {
	service: GenerationService;
	clock: Clock;
	random: Random;
	/** Ends all waits. */
	halt: AbortSignal;
}

/** How long a final status is reused: half of the hour for which its output URL is valid (spec 8). */
const FINAL_STATUS_MS = 1_800_000;

/** The last status check of a generation. Plain data, because it is stored while the execution sleeps. */
export interface StatusCheck {
	/** When it was sent, in milliseconds since the Unix epoch. */
	at: number;
	/** The generation as last confirmed, by this check or an earlier one; `null` if it never was. */
	known: Generation | null;
}

/** One status request, shared by all items with the same generation. */
interface Look extends StatusCheck {
	/** Resolves to `null` if the deadline passed first. Rejects as the request does. */
	seen: Promise<Generation | null>;
}

/** The last status check of each generation, by its id. */
export type LastLooks = Map<string, Look>;

/** Returns the plain data to store while the execution sleeps. */
export function savedChecks(looks: LastLooks): Record<string, StatusCheck> {
	return Object.fromEntries([...looks].map(([id, { at, known }]) => [id, { at, known }]));
}

/** Restores the status checks of an execution that has slept. */
export function restoredChecks(checks: Record<string, StatusCheck>): LastLooks {
	const looks = Object.entries(checks).map(([id, { at, known }]): [string, Look] => {
		return [id, { at, known, seen: Promise.resolve(known) }];
	});
	return new Map(looks);
}

/**
 * The status requests of a step. Requests for the same generation are at least one poll interval apart. Confirming
 * checks, which pass `since`, are the exception.
 */
export class Looks {
	/** @param last earlier status checks, such as those before a sleep */
	constructor(
		private readonly ports: LookPorts,
		private readonly intervalMs: number,
		private readonly last: LastLooks = new Map(),
	) {}

	/**
	 * Requests the status again as soon as the poll interval allows, for example to get a fresh URL. Retries
	 * transient errors.
	 *
	 * @throws GenerationError, or CancelledError once the step ends
	 */
	async again(id: string): Promise<Generation> {
		const { clock, random, halt } = this.ports;
		const again = async () => await this.nextLook(id);
		return await withRetries(again, { clock, random, signal: halt });
	}

	private async nextLook(id: string): Promise<Generation> {
		const { clock, service, halt } = this.ports;
		const before = this.last.get(id);
		const due = (before?.at ?? 0) + this.intervalMs;
		await clock.sleep(Math.max(0, due - clock.now()), halt);
		if (halt.aborted) throw new CancelledError();
		const last = this.last.get(id);
		// Another item with the same generation has sent a request meanwhile.
		const shared = last !== before ? await last?.seen : null;
		if (shared) return requireAbout(id, shared);
		const seen = service.look(id, halt);
		this.sent(id, seen);
		const generation = requireAbout(id, await seen);
		this.confirm(id, generation);
		return generation;
	}

	/** Returns the generation as last confirmed; `null` if it never was. */
	known(id: string): Generation | null {
		return this.last.get(id)?.known ?? null;
	}

	/** Stores a response as confirmed. Call this only if the response is about this generation. */
	confirm(id: string, generation: Generation): void {
		const last = this.last.get(id);
		if (last) last.known = generation;
	}

	/**
	 * Checks the status of a generation. A final status or a recent request is reused.
	 *
	 * @param deadline milliseconds since the Unix epoch; an answer that takes longer becomes `null`
	 * @param since a request sent at this time or later is recent; by default, one sent within the poll interval
	 */
	look(id: string, deadline: number, since?: number): Look {
		const { clock, service, halt } = this.ports;
		const now = clock.now();
		const inTime = async (task: (signal: AbortSignal) => Promise<Generation | null>) =>
			(await within(clock, deadline - now, halt, task))?.value ?? null;
		const last = this.last.get(id);
		if (last && isSettled(last, now)) return { ...last, seen: Promise.resolve(last.known) };
		const isRecent = (at: number) =>
			since === undefined ? now < at + this.intervalMs : at >= since;
		if (last && isRecent(last.at)) return { ...last, seen: inTime(async () => await last.seen) };
		return this.sent(
			id,
			inTime(async (signal) => await service.look(id, signal)),
		);
	}

	private sent(id: string, seen: Promise<Generation | null>): Look {
		const look = { at: this.ports.clock.now(), known: this.known(id), seen };
		this.last.set(id, look);
		return look;
	}
}

/** True if the status cannot change, and its output URL is valid for long enough. */
function isSettled({ at, known }: StatusCheck, now: number): boolean {
	return known !== null && isFinal(known) && (isFailed(known) || now < at + FINAL_STATUS_MS);
}

/**
 * @throws GenerationError if the response is about another generation, for example from a cache that mixes them up
 */
export function requireAbout(id: string, seen: Generation): Generation {
	if (seen.item.id === id) return seen;
	throw new GenerationError({
		title: 'The service answered about another generation',
		description: `It was asked about ${id}, and answered about ${seen.item.id}. Something on the way to it may remember answers: no cache should.`,
		code: 'unreadable_answer',
		retry: 'backoff',
	});
}
