import type { Clock, Random } from '../basics/ports';
import { within } from '../basics/within';
import { withRetries } from '../wire/backoff';
import { CancelledError, GenerationError } from '../wire/errors';
import { isFinal, type Generation } from '../wire/generation';
import type { GenerationService } from '../wire/service';

/** What looking reaches the world by. */
export interface LookPorts {
	service: GenerationService;
	clock: Clock;
	random: Random;
	/** Ends all watching. */
	halt: AbortSignal;
}

/** One status request, for all items that wait for its generation. */
interface Look {
	at: number;
	/** `null` where its time was over first. Rejects as the request does. */
	seen: Promise<Generation | null>;
	/** True once the answer said so: nothing changes after that. */
	isFinal?: boolean;
}

/** The last look at each generation, by its id. */
export type LastLooks = Map<string, Look>;

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
		this.last.set(id, { at: clock.now(), seen });
		return requireAbout(id, await seen);
	}

	/**
	 * Asks for the status of a generation. Where another item did so within the interval, what came of that is the answer.
	 *
	 * @param deadline milliseconds since the Unix epoch; then the answer is not waited for any longer
	 * @param since a request sent at this moment or later is reused, as is a final status; unless given, one sent within
	 * the poll interval
	 */
	look(id: string, deadline: number, since?: number): Look {
		const { clock, service, halt } = this.ports;
		const now = clock.now();
		const inTime = async (task: (signal: AbortSignal) => Promise<Generation | null>) =>
			(await within(clock, deadline - now, halt, task))?.value ?? null;
		const last = this.last.get(id);
		const isRecent = (at: number) =>
			since === undefined ? now < at + this.intervalMs : at >= since;
		if (last && (last.isFinal || isRecent(last.at))) {
			return { at: last.at, seen: inTime(async () => await last.seen) };
		}
		const seen = inTime(async (signal) => {
			const generation = await service.look(id, signal);
			look.isFinal = generation.item.id === id && isFinal(generation);
			return generation;
		});
		const look: Look = { at: now, seen };
		this.last.set(id, look);
		return look;
	}
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
