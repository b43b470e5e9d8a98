import type { SendRequest, ServiceRequest, ServiceResponse } from '../ports';
import { errorFromConnection } from './connection';
import {
	CancelledError,
	errorFromResponse,
	GenerationError,
	isForeign,
	unreadableAnswer,
} from './errors';
import { withFreshValues } from './fresh-value';
import { asRecord, readGeneration, type Generation, type GenerationType } from './generation';
import { withRetries, type RetryPorts } from './retry';
import { isUnknownState } from './states';
import { amount, truncate } from '../text';

/** A validated creating request (spec 4.1, 4.2). */
export interface CreateRequest {
	type: GenerationType;
	body: object;
}

/** One entry of the live catalog (spec 2.2), returned unchanged. */
export interface Model {
	id: string;
	type?: string;
	name?: string;
	provider?: string;
	description?: string;
	max_resolution?: string;
	avg_speed_seconds?: number;
	[key: string]: unknown;
}

/** The models to list (spec 4.4). */
export type ModelFilter = 'all' | 'image' | 'video';

/** A balance or a summary (spec 2.3, 2.4), returned unchanged. Both contain the remaining credits. */
export interface Credits {
	balance: number;
	[key: string]: unknown;
}

/** Builds the error for too few credits. `option` is the display name of the option that sets the minimum. */
export function balanceBelow(balance: number, minimum: number, option: string): GenerationError {
	return new GenerationError({
		title: `${amount(balance)} ${balance === 1 ? 'credit' : 'credits'} left, below your minimum of ${amount(minimum)}`,
		description: `Top up the account, or lower ${option}.`,
		code: 'balance_below_minimum',
	});
}

/** Throws the error that the service would return for a model that the catalog does not have. */
export function modelNotFound(id: string, models: Model[]): never {
	const response = { status: 404, body: { error: { code: 'model_not_found' } } };
	throw errorFromResponse(response, false, id).with({
		details: `None of the ${models.length} models in the catalog has this ID`,
	});
}

/** While the Base URL has never answered, failed connections are retried for this long. Then they are fatal for the step. */
const FIRST_CONTACT_MS = 60_000;

/**
 * The six endpoints of the service (spec 4). Each throws `GenerationError` if the service rejects the request or cannot be
 * reached, and `CancelledError` if `ports.signal` has aborted. Requests for models and credits are retried (spec 7).
 * `create` and `status` send one request: their callers decide about retries.
 */
export class ServiceClient {
	/** Time of the first failed connection; `null` if there was none. `Infinity` means that the Base URL is known to work. */
	private unreachableSince: number | null = null;

	constructor(private readonly ports: RetryPorts & { send: SendRequest }) {}

	/** Call this once the service has answered, even in an earlier run. Failed connections then no longer end the step. */
	confirmBaseUrl(): void {
		this.unreachableSince = Infinity;
	}

	/**
	 * Sends one POST /v1/images/generations or /v1/videos/generations, which charges credits. An error with
	 * `charge: 'unknown'` means that credits may have been charged although no generation is known.
	 *
	 * @param header value of the header `Idempotency-Key` (not in the spec); pass the same value to send a request again
	 */
	async create({ type, body }: CreateRequest, header: string): Promise<Generation> {
		const path = `/v1/${type}s/generations`;
		const headers = { 'Idempotency-Key': header };
		const { model } = asRecord(body);
		const subject = typeof model === 'string' ? model : null;
		const sent = withFreshValues(body) as object;
		return await this.generation({ method: 'POST', path, body: sent, headers }, subject);
	}

	/** Sends one GET /v1/generations/{id}. Returns the status and a fresh URL. `signal` aborts the request. */
	async status(id: string, signal: AbortSignal): Promise<Generation> {
		const path = `/v1/generations/${encodeURIComponent(id)}`;
		const headers = { 'Cache-Control': 'no-cache' };
		return await this.generation({ method: 'GET', path, headers }, id, signal);
	}

	/** GET /v1/models. */
	async models(type: ModelFilter): Promise<Model[]> {
		const query: Record<string, string> = type === 'all' ? {} : { type };
		const models = await this.read({ method: 'GET', path: '/v1/models', query }, readModels);
		// Filters here, too: the service may ignore the query parameter `type`.
		return models.filter((model) => type === 'all' || (model.type ?? type) === type);
	}

	/** GET /v1/credits/balance (spec 2.3). */
	async balance(): Promise<Credits> {
		return await this.read({ method: 'GET', path: '/v1/credits/balance' }, readCredits);
	}

	/** GET /v1/credits/summary (spec 2.4). */
	async summary(): Promise<Credits> {
		return await this.read({ method: 'GET', path: '/v1/credits/summary' }, readCredits);
	}

	/** @param parse returns `null` for content of another server, which may answer if the Base URL is wrong */
	private async read<T>(
		request: ServiceRequest,
		parse: (body: Record<string, unknown>) => T | null,
	): Promise<T> {
		return await withRetries(async () => {
			const response = await this.response(request, null, this.ports.signal);
			const content = parse(asRecord(response.body));
			if (content !== null) {
				this.confirmBaseUrl();
				return content;
			}
			throw unreadableAnswer(response, false).with({ retry: 'never' });
		}, this.ports);
	}

	/** Sends one request about a generation, and reads the generation from the response. */
	private async generation(
		request: ServiceRequest,
		subject: string | null,
		signal?: AbortSignal,
	): Promise<Generation> {
		const response = await this.response(request, subject, signal);
		const generation = readGeneration(response.body, this.ports.clock.now());
		if (generation === null) {
			const error = unreadableAnswer(response, request.method === 'POST');
			// Before the service has ever answered, an HTML page means a wrong Base URL: retries would not help.
			const isPage = typeof response.body === 'string' && /^\s*</.test(response.body);
			throw isPage && !this.hasAnswered ? error.with({ retry: 'never' }) : error;
		}
		this.confirmBaseUrl();
		const { id, status } = generation.item;
		if (isUnknownState(status)) {
			this.ports.debug?.(`generation ${id} has the unknown status "${truncate(String(status))}"`);
		}
		return generation;
	}

	/** Sends one request. Throws an error unless the status is 2xx. `subject`: model or id, for the error's title. */
	private async response(
		request: ServiceRequest,
		subject: string | null,
		signal?: AbortSignal,
	): Promise<ServiceResponse> {
		const { send, signal: stop, debug, clock } = this.ports;
		const name = `${request.method} ${request.path}`;
		const charging = request.method === 'POST';
		if (stop.aborted) throw new CancelledError();
		const response = await send(request, signal).catch((failure: unknown) => {
			if (stop.aborted && !charging) throw new CancelledError();
			const error = errorFromConnection(failure, charging);
			debug?.(`${name} had no response (${error.code})`);
			throw error.code === 'connection_failed' ? this.unconnected(error) : error;
		});
		if (response.status >= 200 && response.status < 300) return response;
		const error = errorFromResponse(response, charging, subject, clock.now());
		if (!isForeign(error)) this.confirmBaseUrl();
		debug?.(`${name} was answered with ${response.status} ${error.code}`);
		throw error;
	}

	private get hasAnswered(): boolean {
		return this.unreachableSince === Infinity;
	}

	/** A failed connection is fatal after a minute without a first response, and never once the service has answered. */
	private unconnected(error: GenerationError): GenerationError {
		if (this.hasAnswered) return error.with({ fatalForStep: false });
		const now = this.ports.clock.now();
		this.unreachableSince ??= now;
		const isOver = now - this.unreachableSince >= FIRST_CONTACT_MS;
		return isOver ? error.with({ fatalForStep: true }) : error;
	}
}

function readCredits(body: Record<string, unknown>): Credits | null {
	return typeof body.balance === 'number' ? (body as Credits) : null;
}

/** Returns the entries that have an id, because others cannot be used; `null` if the body has no list. */
function readModels({ data }: Record<string, unknown>): Model[] | null {
	if (!Array.isArray(data)) return null;
	return (data as Model[]).filter((entry) => typeof entry?.id === 'string' && entry.id !== '');
}
