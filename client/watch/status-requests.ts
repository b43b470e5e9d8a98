import { GenerationError } from '../api/errors';
import { isCompleted, isFinal, lacksOutput, type Generation } from '../api/generation';
import type { ServiceClient } from '../api/client';
import { pause, withRetries } from '../api/retry';
import { withTimeout } from '../async';
import { Hold } from '../api/hold';
import type { Clock, Debug, Random } from '../ports';

export interface StatusPorts {
	service: ServiceClient;
	clock: Clock;
	random: Random;
	halt: AbortSignal;
	/** Until when no check may be sent, as the service has asked an earlier run. Default: 0. */
	heldUntil?: number;
	debug?: Debug;
}

/** How long the status `completed` is reused: half of the hour for which its output URL is valid (spec 8). */
const FINAL_STATUS_MS = 1_800_000;

/** The last status check of a generation. */
interface StatusCheck {
	/** When it was sent. */
	at: number;
	/** The generation as last confirmed, by this check or an earlier one; `null` if it never was. */
	known: Generation | null;
}

/** Resolves to `null` if the deadline passed first. Rejects as the request does. */
type StatusResponse = Promise<Generation | null>;

/** The status requests of a step. Except for confirming checks, those for a generation keep the poll interval. */
export class StatusRequests {
	/** The responses to the checks of this step, which all items with the same generation share. */
	private readonly responses = new WeakMap<StatusCheck, StatusResponse>();
	/** The last status check of each generation, by its id. */
	private readonly last = new Map<string, StatusCheck>();
	/** How many were sent. */
	sent = 0;
	/** Until when the service has asked the step to send none. */
	readonly hold: Hold;

	constructor(
		private readonly ports: StatusPorts,
		readonly intervalMs: number,
	) {
		this.hold = new Hold(ports.clock, ports.heldUntil);
	}

	known(id: string): Generation | null {
		return this.last.get(id)?.known ?? null;
	}

	/** Stores a response that is certainly about this generation. */
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
	fetch(id: string, deadline: number, since?: number): { at: number; response: StatusResponse } {
		const { clock, service, halt } = this.ports;
		const now = clock.now();
		const last = this.last.get(id);
		if (last && isSettled(last, now)) return { ...last, response: Promise.resolve(last.known) };
		const isRecent = (at: number) =>
			since === undefined ? now - at < this.intervalMs : at >= since;
		const reused = last && isRecent(last.at) ? last : null;
		const response = withTimeout(clock, deadline - now, halt, async (signal) => {
			if (reused) return await (this.responses.get(reused) ?? reused.known);
			this.sent++;
			return await service.status(id, signal);
		});
		if (!reused) this.store(id, now, response);
		return { at: reused?.at ?? now, response };
	}

	/** Requests the status, for a fresh URL, as soon as the poll interval allows. Retries and throws as `withRetries`. */
	async refetch(id: string): Promise<Generation> {
		const { clock, random, halt, service, debug } = this.ports;
		const refetchOnce = async () => {
			const before = this.last.get(id);
			await pause(clock, (before?.at ?? 0) + this.intervalMs - clock.now(), halt);
			const last = this.last.get(id);
			// Another item with the same generation has sent a request meanwhile.
			const shared = last && last !== before ? await this.responses.get(last) : null;
			if (shared) return requireAbout(id, shared);
			this.sent++;
			const response = service.status(id, halt);
			this.store(id, clock.now(), response);
			const generation = requireAbout(id, await response);
			this.confirm(id, generation);
			return generation;
		};
		return await withRetries(refetchOnce, { clock, random, signal: halt, debug });
	}

	private store(id: string, at: number, response: StatusResponse): void {
		const check = { at, known: this.known(id) };
		this.responses.set(check, response);
		this.last.set(id, check);
	}
}

/** True if the status cannot change, and its output URL is still valid. */
function isSettled({ at, known }: StatusCheck, now: number): boolean {
	if (known === null || !isFinal(known) || lacksOutput(known)) return false;
	if (!isCompleted(known)) return true;
	const { url_expires_at: expiry } = known.item;
	const hasExpired = expiry !== null && Date.parse(expiry) <= now;
	return !hasExpired && now - at < FINAL_STATUS_MS;
}

/**
 * Throws GenerationError if the response is about another generation, such as from a wrong cache entry. A user may have
 * typed the id in another form.
 */
export function requireAbout(id: string, generation: Generation): Generation {
	const [asked, answered] = [id, generation.item.id].map((each) =>
		each.toLowerCase().replace(/[^a-z\d]/g, ''),
	);
	if (asked === answered) return generation;
	throw new GenerationError({
		title: 'The service returned another generation',
		details: `The request was about ${id}, and the response about ${generation.item.id}`,
		description: 'Check for a proxy that caches responses, and turn its cache off for the service.',
		code: 'unreadable_answer',
		retry: 'backoff',
	});
}
