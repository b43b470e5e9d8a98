import { GenerationError } from '../api/errors';
import { isFinal, type Generation } from '../api/generation';
import { pause, withRetries } from '../api/retry';
import { withTimeout } from '../async';
import { Hold } from '../api/hold';
import type { ProbeUrl } from '../ports';
import type { StepPorts } from '../jobs/step-ports';
import { Prober } from './prober';

interface StatusCheck {
	/** When its request was sent. */
	at: number;
	/** Resolves to `null` if the deadline passes before the response. Rejects with the error of the request. */
	response: Promise<Generation | null>;
}

/**
 * What the watches (`Watch`) of one step share: the prober, which looks for files at output URLs, and the status requests.
 * Until the prober has found the file, at most one status request per generation and poll interval is sent.
 */
export class Watcher {
	readonly prober: Prober;
	/** The most recent check of each generation, by its id. */
	private readonly last = new Map<string, StatusCheck>();
	/** The generations as last seen, by their ids. */
	private readonly seen = new Map<string, Generation>();
	sent = 0;
	/** Errors after which a status check was retried, for the step's summary. */
	readonly transientErrors = new Set<GenerationError>();
	/** The pause that the service has asked for (`Retry-After`). `Watch` checks this pause before its requests. */
	readonly hold: Hold;

	constructor(
		readonly ports: StepPorts & { probe: ProbeUrl },
		readonly intervalMs: number,
	) {
		this.prober = new Prober(ports, intervalMs);
		this.hold = new Hold(ports.clock, ports.memory?.heldUntil);
	}

	known(id: string): Generation | null {
		return this.seen.get(id) ?? null;
	}

	/**
	 * Requests the status of a generation. A request that was sent less than a poll interval ago is reused.
	 *
	 * @param deadline the response resolves to `null` if the service has not answered by then
	 * @param confirmFrom time at which a probe found the file: an older request is reused only if it saw a final status
	 */
	fetch(id: string, deadline: number, confirmFrom = 0): StatusCheck {
		const { clock, service, halt } = this.ports;
		const now = clock.now();
		const last = this.last.get(id);
		const seen = this.known(id);
		const since = seen && isFinal(seen) ? 0 : confirmFrom;
		const isRecent = last && last.at >= since && now - last.at < this.intervalMs;
		const reused = isRecent ? last : null;
		const response = withTimeout(clock, deadline - now, halt, async (signal) => {
			if (reused) return await reused.response;
			this.sent++;
			const generation = requireAbout(id, await service.status(id, signal));
			this.seen.set(id, generation);
			return generation;
		});
		const check = { at: reused?.at ?? now, response };
		if (!reused) this.last.set(id, check);
		return check;
	}

	/** Requests the status again, for a new URL, after the poll interval. Throws CancelledError, or the last retry's error. */
	async refetch(id: string): Promise<Generation> {
		const { clock, halt } = this.ports;
		const refetchOnce = async () => {
			const { at } = this.last.get(id) ?? { at: -Infinity };
			await pause(clock, at + this.intervalMs - clock.now(), halt);
			// Another item with the same generation may have sent a request meanwhile, which `fetch` then reuses.
			return (await this.fetch(id, Infinity).response) as Generation;
		};
		return await withRetries(refetchOnce, { ...this.ports, signal: halt });
	}
}

/**
 * Throws GenerationError if the response is about another generation: a cache may return a wrong entry. Upper case and
 * hyphens in the ids do not matter: a user may have typed an id in another form.
 */
function requireAbout(id: string, generation: Generation): Generation {
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
