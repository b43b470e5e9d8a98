import { CancelledError, GenerationError } from '../api/errors';
import { isFailed, isFinal, type Generation } from '../api/generation';
import type { ServiceClient } from '../api/client';
import { withRetries } from '../api/retry';
import { withTimeout } from '../async';
import type { Clock, Random } from '../ports';

/** Dependencies of status checks. */
export interface StatusPorts {
	service: ServiceClient;
	clock: Clock;
	random: Random;
	/** Ends all waits. */
	halt: AbortSignal;
}

/** How long a final status is reused: half of the hour for which its output URL is valid (spec 8). */
const FINAL_STATUS_MS = 1_800_000;

/** The last status check of a generation. Plain data, because it is stored while the execution sleeps. */
export interface StatusCheck {
	/** When it was sent. */
	at: number;
	/** The generation as last confirmed, by this check or an earlier one; `null` if it never was. */
	known: Generation | null;
}

/** One status request, shared by all items with the same generation. */
interface StatusRequest extends StatusCheck {
	/** Resolves to `null` if the deadline passed first. Rejects as the request does. */
	response: Promise<Generation | null>;
}

/** The last status check of each generation, by its id. */
export type StatusChecks = Map<string, StatusRequest>;

/** Returns the plain data to store while the execution sleeps. */
export function savedChecks(checks: StatusChecks): Record<string, StatusCheck> {
	return Object.fromEntries([...checks].map(([id, { at, known }]) => [id, { at, known }]));
}

/** Restores the status checks of an execution that has slept. */
export function restoredChecks(saved: Record<string, StatusCheck>): StatusChecks {
	const restored = (check: StatusCheck) => ({ ...check, response: Promise.resolve(check.known) });
	return new Map(Object.entries(saved).map(([id, check]) => [id, restored(check)]));
}

/**
 * The status requests of a step. Requests for the same generation are at least one poll interval apart. Confirming
 * checks, which pass `since`, are the exception.
 */
export class StatusRequests {
	/** @param last earlier status checks, such as those before a sleep */
	constructor(
		private readonly ports: StatusPorts,
		private readonly intervalMs: number,
		private readonly last: StatusChecks = new Map(),
	) {}

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
	 * Requests the status of a generation. A final status or a recent request is reused.
	 *
	 * @param deadline a response that takes longer becomes `null`
	 * @param since a request sent at this time or later is recent; by default, one sent within the poll interval
	 */
	fetch(id: string, deadline: number, since?: number): StatusRequest {
		const { clock, service, halt } = this.ports;
		const now = clock.now();
		const inTime = async (task: (signal: AbortSignal) => Promise<Generation | null>) =>
			(await withTimeout(clock, deadline - now, halt, task))?.value ?? null;
		const last = this.last.get(id);
		if (last && isSettled(last, now)) return { ...last, response: Promise.resolve(last.known) };
		const isRecent = (at: number) =>
			since === undefined ? Math.abs(now - at) < this.intervalMs : at >= since;
		if (last && isRecent(last.at)) {
			return { ...last, response: inTime(async () => await last.response) };
		}
		const response = inTime(async (signal) => await service.status(id, signal));
		return this.store(id, response);
	}

	/**
	 * Requests the status again as soon as the poll interval allows, for example to get a fresh URL. Retries
	 * transient errors.
	 *
	 * @throws GenerationError, or CancelledError once the step ends
	 */
	async refetch(id: string): Promise<Generation> {
		const { clock, random, halt } = this.ports;
		const run = async () => await this.fetchAfter(this.last.get(id), id);
		return await withRetries(run, { clock, random, signal: halt });
	}

	private async fetchAfter(before: StatusCheck | undefined, id: string): Promise<Generation> {
		const { clock, service, halt } = this.ports;
		const due = (before?.at ?? 0) + this.intervalMs;
		// A clock that was set back does not extend the wait.
		await clock.sleep(Math.min(this.intervalMs, Math.max(0, due - clock.now())), halt);
		if (halt.aborted) throw new CancelledError();
		const last = this.last.get(id);
		// Another item with the same generation has sent a request meanwhile.
		const shared = last !== before ? await last?.response : null;
		if (shared) return requireAbout(id, shared);
		const response = service.status(id, halt);
		this.store(id, response);
		const generation = requireAbout(id, await response);
		this.confirm(id, generation);
		return generation;
	}

	private store(id: string, response: Promise<Generation | null>): StatusRequest {
		const request = { at: this.ports.clock.now(), known: this.known(id), response };
		this.last.set(id, request);
		return request;
	}
}

/** True if the status cannot change, and its output URL is valid for long enough. */
function isSettled({ at, known }: StatusCheck, now: number): boolean {
	return (
		known !== null && isFinal(known) && (isFailed(known) || Math.abs(now - at) < FINAL_STATUS_MS)
	);
}

/** @throws GenerationError if the response is about another generation, for example from a wrong cache entry */
export function requireAbout(id: string, generation: Generation): Generation {
	if (generation.item.id === id) return generation;
	throw new GenerationError({
		title: 'The service returned another generation',
		details: `The request was about ${id}, and the response about ${generation.item.id}`,
		description: 'Check for a proxy that caches responses, and turn its cache off for the service.',
		code: 'unreadable_answer',
		retry: 'backoff',
	});
}
