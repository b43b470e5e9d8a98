import { GenerationError, CancelledError, errorFromResponse, unreadableAnswer } from './errors';
import { withRetries, type RetryPorts } from './retry';
import { isModel, type Model, type ModelFilter } from './catalog';
import { errorFromConnection } from './connection';
import { readGeneration, type Generation, type GenerationType } from './generation';
import type { SendRequest, ServiceRequest, ServiceResponse } from '../ports';

/** A validated creating request (spec 4.1, 4.2). */
export interface CreateRequest {
	type: GenerationType;
	body: object;
}

/** How long to retry a base URL that has never answered. After that it is treated as misconfigured. */
const FIRST_CONTACT_MS = 2_000;

export interface ServicePorts extends RetryPorts {
	send: SendRequest;
}

/**
 * The six endpoints of the service (spec 4).
 *
 * Every call throws `GenerationError` if the service refuses or cannot be reached, and `CancelledError` once the
 * signal has aborted. Reads of models and credits are retried by the rules of spec 7. `create` and `look` send a
 * single request, and their callers decide about retries.
 */
export class GenerationService {
	private hasAnswered = false;
	/** When a connection to it first failed. */
	private missedAt: number | null = null;

	constructor(private readonly ports: ServicePorts) {}

	/**
	 * POST /v1/images/generations or /v1/videos/generations, once: charges credits. An error with `charge: 'unknown'`
	 * means that the response was lost.
	 *
	 * @param name of the order, the same in every attempt. A service that supports the header ignores the second
	 * request with it. The spec does not mention it, so nothing relies on it.
	 */
	async create({ type, body }: CreateRequest, name: string): Promise<Generation> {
		const path = `/v1/${type}s/generations`;
		const headers = { 'Idempotency-Key': name };
		return await this.generation({ method: 'POST', path, body, headers });
	}

	/**
	 * GET /v1/generations/{id}, once: the status and a fresh URL.
	 *
	 * @param signal aborts the request
	 */
	async look(id: string, signal: AbortSignal): Promise<Generation> {
		const path = `/v1/generations/${encodeURIComponent(id)}`;
		return await this.generation({ method: 'GET', path }, signal);
	}

	/** GET /v1/models. */
	async models(type: ModelFilter = 'all'): Promise<Model[]> {
		const query: Record<string, string> = type === 'all' ? {} : { type };
		const request = { method: 'GET', path: '/v1/models', query } as const;
		const { data } = await this.object(request, (body) => Array.isArray(body.data));
		return (data as unknown[]).filter(isModel);
	}

	/** GET /v1/credits/balance, returned unchanged (spec 2.3). */
	async balance(): Promise<Credits> {
		return await this.credits('balance');
	}

	/** GET /v1/credits/summary, returned unchanged (spec 2.4). */
	async summary(): Promise<Credits> {
		return await this.credits('summary');
	}

	private async credits(which: 'balance' | 'summary'): Promise<Credits> {
		const request = { method: 'GET', path: `/v1/credits/${which}` } as const;
		return (await this.object(request, ({ balance }) => typeof balance === 'number')) as Credits;
	}

	/**
	 * Returns the JSON object of a read request.
	 *
	 * @param isMeant checks the content, because any server at a wrong address may answer with 200
	 */
	private async object(
		request: ServiceRequest,
		isMeant: (body: Record<string, unknown>) => boolean,
	): Promise<Record<string, unknown>> {
		return await this.reading(async () => {
			const response = await this.answer(request, this.ports.signal);
			const body = Object(response.body) as Record<string, unknown>;
			if (isMeant(body)) return body;
			throw unreadableAnswer(response, false).with({ retry: 'never' });
		});
	}

	private async generation(request: ServiceRequest, signal?: AbortSignal): Promise<Generation> {
		const response = await this.answer(request, signal);
		const generation = readGeneration(response.body, this.ports.clock.now());
		if (generation === null) throw unreadableAnswer(response, request.method === 'POST');
		return generation;
	}

	/** Reads change nothing, so every transient error is retried. */
	private async reading<T>(run: () => Promise<T>): Promise<T> {
		return await withRetries(run, this.ports);
	}

	private async answer(request: ServiceRequest, signal?: AbortSignal): Promise<ServiceResponse> {
		const { send, signal: stop } = this.ports;
		const charging = request.method === 'POST';
		if (stop.aborted) throw new CancelledError();
		const response = await send(request, signal).catch((failure: unknown) => {
			if (stop.aborted && !charging) throw new CancelledError();
			const error = errorFromConnection(failure, charging);
			throw this.isNowhere(error) ? error.with({ stopsSubmitting: true }) : error;
		});
		this.hasAnswered = true;
		if (response.status >= 200 && response.status < 300) return response;
		throw errorFromResponse(response, charging);
	}

	/** True if the base URL was never reachable, and was tried for long enough: treat it as misconfigured. */
	private isNowhere({ code }: GenerationError): boolean {
		if (this.hasAnswered || code !== 'connection_failed') return false;
		const now = this.ports.clock.now();
		this.missedAt ??= now;
		return now - this.missedAt >= FIRST_CONTACT_MS;
	}
}

/** A balance or a summary (spec 2.3, 2.4), returned unchanged. Both contain the remaining credits. */
export interface Credits {
	balance: number;
	[key: string]: unknown;
}

/**
 * Checks the balance before credits are spent.
 *
 * @throws GenerationError if fewer credits than `minimum` are left
 */
export function requireBalance({ balance }: Credits, minimum: number): void {
	if (balance >= minimum) return;
	const left = balance === 1 ? '1 credit is' : `${balance} credits are`;
	throw new GenerationError({
		title: `Only ${left} left, fewer than the minimum of ${minimum}`,
		description: 'Nothing was spent. Top up the account, or lower the Minimum Balance option.',
		code: 'balance_below_minimum',
	});
}
