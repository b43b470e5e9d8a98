import { withRetries, type RetryPorts } from './backoff';
import { isModel, type Model, type ModelFilter } from './catalogue';
import { errorFromConnection } from './connection';
import type { Credits } from './credits';
import {
	CancelledError,
	errorFromResponse,
	unreadableAnswer,
	type GenerationError,
} from './errors';
import { readGeneration, type Generation, type GenerationType } from './generation';
import type { SendRequest, ServiceRequest, ServiceResponse } from '../basics/ports';

/** A creating request (spec 4.1, 4.2), checked and ready to be sent. */
export interface CreateRequest {
	type: GenerationType;
	body: object;
}

/** For how long an address at which nobody has ever answered is tried again: it may be a wrong one. */
const FIRST_CONTACT_MS = 2_000;

export interface ServicePorts extends RetryPorts {
	send: SendRequest;
}

/**
 * The service's six endpoints (spec 4), typed. Every call throws `GenerationError` where the service refuses or cannot
 * be reached, and `CancelledError` once the signal has aborted. Those that only read try again by the rules of spec 7;
 * a creating request and a look are single requests, whose callers know what may follow.
 */
export class GenerationService {
	private hasAnswered = false;
	/** When a connection to it first failed. */
	private missedAt: number | null = null;

	constructor(private readonly ports: ServicePorts) {}

	/**
	 * POST /v1/images/generations or /v1/videos/generations, once: charges credits. An error with `charge: 'unknown'` says
	 * that the answer was lost.
	 *
	 * @param name of the order, the same in every try: those who know the header drop the second of two. The spec does not
	 * name it, so nothing relies on it.
	 */
	async create({ type, body }: CreateRequest, name: string): Promise<Generation> {
		const path = `/v1/${type}s/generations`;
		const headers = { 'Idempotency-Key': name };
		return await this.generation({ method: 'POST', path, body, headers });
	}

	/** GET /v1/generations/{id}, once: the status, and a URL that is fresh. @param signal gives up on it */
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

	/** GET /v1/credits/balance: the service's own entry (spec 2.3). */
	async balance(): Promise<Credits> {
		return await this.credits('balance');
	}

	/** GET /v1/credits/summary: the service's own entry (spec 2.4). */
	async summary(): Promise<Credits> {
		return await this.credits('summary');
	}

	private async credits(which: 'balance' | 'summary'): Promise<Credits> {
		const request = { method: 'GET', path: `/v1/credits/${which}` } as const;
		return (await this.object(request, ({ balance }) => typeof balance === 'number')) as Credits;
	}

	/**
	 * The JSON object that a request which reads is answered with.
	 *
	 * @param isMeant whether an answer is what was asked for: anything may stand at a wrong address, and answer with 200
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

	/** Reading changes nothing, so whatever passes by itself is tried again. */
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

	/** Whether nobody has ever answered at the address, and it was tried for long enough: then no request gets through. */
	private isNowhere({ code }: GenerationError): boolean {
		if (this.hasAnswered || code !== 'connection_failed') return false;
		const now = this.ports.clock.now();
		this.missedAt ??= now;
		return now - this.missedAt >= FIRST_CONTACT_MS;
	}
}
