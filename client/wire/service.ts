import { withRetries, type RetryPorts } from './backoff';
import type { Model, ModelFilter } from './catalogue';
import { errorFromConnection } from './connection';
import {
	CancelledError,
	errorFromResponse,
	unreadableAnswer,
	type GenerationError,
} from './errors';
import { readGeneration, type Generation, type GenerationType } from './generation';
import type { SendRequest, ServiceRequest } from '../basics/ports';

/** A creating request (spec 4.1, 4.2), checked and ready to be sent. */
export interface CreateRequest {
	type: GenerationType;
	body: object;
}

export interface ServicePorts extends RetryPorts {
	send: SendRequest;
}

/**
 * The service's six endpoints (spec 4), typed, with the retry rules of spec 7. Every call throws `GenerationError`
 * where the service refuses or cannot be reached, and `CancelledError` once the signal has aborted.
 */
export class GenerationService {
	constructor(private readonly ports: ServicePorts) {}

	/**
	 * POST /v1/images/generations or /v1/videos/generations: charges credits. Tried again by itself only where it is
	 * certain that nothing was charged; an error with `charge: 'unknown'` says that the answer was lost.
	 *
	 * @param signal ends the waiting between tries; one that is under way is let come to its answer
	 * @param each is handed every single try, to send it when it may be; the pauses between them are outside of it
	 */
	async create(
		{ type, body }: CreateRequest,
		signal = this.ports.signal,
		each: (send: () => Promise<Generation>) => Promise<Generation> = async (send) => await send(),
	): Promise<Generation> {
		const request = { method: 'POST', path: `/v1/${type}s/generations`, body } as const;
		return await withRetries(
			async () => await each(async () => await this.generation(request)),
			(error) => error.retry === 'backoff' && error.charge === 'none',
			{ ...this.ports, signal },
		);
	}

	/** GET /v1/generations/{id}: the status, and a URL that is fresh. */
	async status(id: string): Promise<Generation> {
		const path = `/v1/generations/${encodeURIComponent(id)}`;
		return await this.reading(async () => await this.generation({ method: 'GET', path }));
	}

	/** GET /v1/models. */
	async models(type: ModelFilter = 'all'): Promise<Model[]> {
		const query: Record<string, string> = type === 'all' ? {} : { type };
		const body = await this.record({ method: 'GET', path: '/v1/models', query });
		return Array.isArray(body.data) ? (body.data as Model[]) : [];
	}

	/** GET /v1/credits/balance: the service's own entry (spec 2.3). */
	async balance(): Promise<Record<string, unknown>> {
		return await this.record({ method: 'GET', path: '/v1/credits/balance' });
	}

	/** GET /v1/credits/summary: the service's own entry (spec 2.4). */
	async summary(): Promise<Record<string, unknown>> {
		return await this.record({ method: 'GET', path: '/v1/credits/summary' });
	}

	private async record(request: ServiceRequest): Promise<Record<string, unknown>> {
		return await this.reading(async () => {
			const response = await this.answer(request);
			if (!response.body || typeof response.body !== 'object') {
				throw unreadableAnswer(response, false);
			}
			return response.body as Record<string, unknown>;
		});
	}

	private async generation(request: ServiceRequest): Promise<Generation> {
		const response = await this.answer(request);
		const generation = readGeneration(response.body, this.ports.clock.now());
		if (generation === null) throw unreadableAnswer(response, request.method === 'POST');
		return generation;
	}

	/** Reading changes nothing, so whatever passes by itself is tried again. */
	private async reading<T>(run: () => Promise<T>): Promise<T> {
		return await withRetries(
			run,
			(error: GenerationError) => error.retry === 'backoff',
			this.ports,
		);
	}

	private async answer(request: ServiceRequest) {
		const { send, signal } = this.ports;
		const charging = request.method === 'POST';
		if (signal.aborted) throw new CancelledError();
		const response = await send(request).catch((failure: unknown) => {
			if (signal.aborted && !charging) throw new CancelledError();
			throw errorFromConnection(failure, charging);
		});
		if (response.status < 200 || response.status >= 300)
			throw errorFromResponse(response, charging);
		return response;
	}
}
