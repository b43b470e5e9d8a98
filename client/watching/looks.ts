import type { Clock, Random } from '../basics/ports';
import { within } from '../basics/within';
import { withRetries } from '../wire/backoff';
import { CancelledError, GenerationError } from '../wire/errors';
import { isFailed, isFinal, type Generation } from '../wire/generation';
import type { GenerationService } from '../wire/service';

/** What looking reaches the world by. */
export interface LookPorts {
	service: GenerationService;
	clock: Clock;
	random: Random;
	/** Ends all watching. */
	halt: AbortSignal;
}

/** How long a final status is used again: half of the hour for which its output URL is valid (spec 4.3). */
const FINAL_STATUS_MS = 1_800_000;

/** The last status check of a generation, as plain data: it travels with an execution that sleeps. */
export interface StatusCheck {
	/** When it was sent, in milliseconds since the Unix epoch. */
	at: number;
	/** As the service last confirmed it, by this check or an earlier one; `null` where it never did. */
	known: Generation | null;
}

/** One status request, for all items that wait for its generation. */
interface Look extends StatusCheck {
	/** `null` where its time was over first. Rejects as the request does. */
	seen: Promise<Generation | null>;
}

/** The last look at each generation, by its id. */
export type LastLooks = Map<string, Look>;

/** What is kept of status checks while an execution sleeps. */
export function savedChecks(looks: LastLooks): Record<string, StatusCheck> {
	return Object.fromEntries([...looks].map(([id, { at, known }]) => [id, { at, known }]));
}

/** The status checks of an execution that has slept. */
export function restoredChecks(checks: Record<string, StatusCheck>): LastLooks {
	const looks = Object.entries(checks).map(([id, { at, known }]): [string, Look] => {
		return [id, { at, known, seen: Promise.resolve(known) }];
	});
	return new Map(looks);
}

/** The status requests of a step: for one generation never two within the poll interval, whoever asks. */
export class Looks {
	/** @param last of whoever has looked before */
	constructor(
		private readonly ports: LookPorts,
		private readonly intervalMs: number,
		private readonly last: LastLooks = new Map(),
	) {}

	/**
	 * The status of a generation that was seen, asked for anew as soon as the interval allows, as for a fresh URL; and
	 * again after errors that pass by themselves.
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
		// Another item with the same generation was quicker.
		const shared = last !== before ? await last?.seen : null;
		if (shared) return requireAbout(id, shared);
		const seen = service.look(id, halt);
		this.sent(id, seen);
		const generation = requireAbout(id, await seen);
		this.confirm(id, generation);
		return generation;
	}

	/** A generation as the service last confirmed it; `null` where it never did. */
	known(id: string): Generation | null {
		return this.last.get(id)?.known ?? null;
	}

	/** Takes what the service says of a generation, once it is certain that it is about that one. */
	confirm(id: string, generation: Generation): void {
		const last = this.last.get(id);
		if (last) last.known = generation;
	}

	/**
	 * Checks the status of a generation. A final status and a recent request are reused.
	 *
	 * @param deadline milliseconds since the Unix epoch; then the answer is not waited for any longer
	 * @param since a request sent at this moment or later is recent; unless given, one sent within the poll interval
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

/** Whether a status cannot change any more, and its output URL is still valid for long enough. */
function isSettled({ at, known }: StatusCheck, now: number): boolean {
	return known !== null && isFinal(known) && (isFailed(known) || now < at + FINAL_STATUS_MS);
}

/** @throws GenerationError where an answer is about another generation, as of a cache on the way that mixes them up */
export function requireAbout(id: string, seen: Generation): Generation {
	if (seen.item.id === id) return seen;
	throw new GenerationError({
		title: 'The service answered about another generation',
		description: `It was asked about ${id}, and answered about ${seen.item.id}. Something on the way to it may remember answers: no cache should.`,
		code: 'unreadable_answer',
		retry: 'backoff',
	});
}
