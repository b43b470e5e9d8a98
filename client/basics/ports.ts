/**
 * The ports through which everything in `client/` reaches the world, so that every rule of retrying, polling and
 * paying can be tested in virtual time.
 */

/** One call of the service. `path` begins with `/v1`; who binds the port adds the base address and the key. */
export interface ServiceRequest {
	method: 'GET' | 'POST';
	path: string;
	query?: Record<string, string>;
	body?: object;
	/** Beside those of the credential. */
	headers?: Record<string, string>;
}

/** The service's answer, whatever its status. `body` is parsed JSON, or the text where it is no JSON. */
export interface ServiceResponse {
	status: number;
	body: unknown;
}

/**
 * Sends one request and returns its answer for every HTTP status, redirects included (never followed).
 * It rejects only where there was no answer; the error (or its `cause`) then carries Node's `code` and `syscall`.
 *
 * @param signal gives up on a request that reads: it is ended and rejects. One that creates is let come to its answer.
 */
export type SendRequest = (
	request: ServiceRequest,
	signal?: AbortSignal,
) => Promise<ServiceResponse>;

/** What a storage answered when it was asked for the first byte of an output. */
export interface Probed {
	status: number;
	/** Whether it offered that one byte alone, as it was asked to, and not the whole file. */
	oneByte: boolean;
}

/**
 * Asks a presigned URL for its first byte (spec 4.3: GET, never HEAD, without the key). Reads no more than that byte,
 * follows no redirect, and rejects where there was no answer.
 *
 * @param signal ends the request
 */
export type ProbeUrl = (url: string, signal?: AbortSignal) => Promise<Probed>;

export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Uniformly in [0, 1), as `Math.random`: where jitter comes from. */
export type Random = () => number;
