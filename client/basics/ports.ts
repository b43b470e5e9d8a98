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
}

/** The service's answer, whatever its status. `body` is parsed JSON, or the text where it is no JSON. */
export interface ServiceResponse {
	status: number;
	body: unknown;
}

/**
 * Sends one request and returns its answer for every HTTP status, redirects included (never followed).
 * It rejects only where there was no answer; the error (or its `cause`) then carries Node's `code` and `syscall`.
 */
export type SendRequest = (request: ServiceRequest) => Promise<ServiceResponse>;

/** Asks a presigned URL for its first byte (spec 4.3: GET, never HEAD, without the key) and returns the HTTP status. */
export type ProbeUrl = (url: string) => Promise<number>;

export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Uniformly in [0, 1), as `Math.random`: where jitter comes from. */
export type Random = () => number;
