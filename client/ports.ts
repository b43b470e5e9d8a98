/** The external dependencies of `client/`. Tests replace them, for example with a clock of virtual time. */

/** One request to the service. `path` begins with `/v1`. The port adds the base URL and the API key. */
export interface ServiceRequest {
	method: 'GET' | 'POST';
	path: string;
	query?: Record<string, string>;
	body?: object;
	/** Headers in addition to those of the credential. */
	headers?: Record<string, string>;
}

/** The service's response, with any status. `body` is parsed JSON, or the text if it is not JSON. */
export interface ServiceResponse {
	status: number;
	body: unknown;
	/** The response headers, with names in lower case. */
	headers?: Readonly<Record<string, unknown>>;
}

/**
 * Sends one request and returns the response for every HTTP status. Redirects are returned and never followed.
 *
 * Rejects with a `GenerationError` with the charge `none` if the request was certainly not sent. Rejects with any other
 * error if there was no response. That error (or its `cause`) carries Node's `code` and `syscall`.
 *
 * @param signal aborts a GET, which then rejects; a POST that is already sent continues until its response
 */
export type SendRequest = (
	request: ServiceRequest,
	signal?: AbortSignal,
) => Promise<ServiceResponse>;

/** A storage's response to a request for the first byte of an output. */
export interface ProbeResponse {
	status: number;
	/** True if the storage offered only that byte, as requested, and not the whole file. */
	oneByte: boolean;
}

/**
 * Requests the first byte of a presigned URL (spec 4.3: GET, never HEAD, without the API key). Never reads a whole file,
 * follows no redirect, and rejects if there was no response or the signal aborts.
 */
export type ProbeUrl = (url: string, signal?: AbortSignal) => Promise<ProbeResponse>;

/** In `client/`, `…At`, `now`, `since` and `deadline` are milliseconds since the Unix epoch. `…Ms` are durations. */
export interface Clock {
	/** Returns the time, which never goes back. */
	now(): number;
	/** Resolves after `ms` milliseconds, or as soon as `signal` aborts. Never rejects. */
	sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Writes a line into n8n's debug log. The line must contain no prompt, URL or key. */
export type Debug = (line: string) => void;

/** Returns a number in [0, 1), uniformly distributed like `Math.random`. It is the source of jitter. */
export type Random = () => number;
