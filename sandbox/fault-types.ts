import type { ErrorName } from './basics/errors';

/**
 * The kind of request that a fault applies to. `credits` covers both the balance and the summary. `probe` is a storage
 * request for only the first byte (`Range: bytes=0-0`), and `download` is any other storage request.
 */
export type FaultTarget = 'create' | 'status' | 'models' | 'credits' | 'download' | 'probe' | 'any';

/** What happens to the request. Sizes are in bytes, and times in milliseconds unless the name says otherwise. */
export type FaultAction =
	/**
	 * Responds with a row of spec 7 in its exact form, without doing the work. `retryAfter` is the header of that name.
	 */
	| {
			kind: 'error';
			code: ErrorName;
			message?: string;
			param?: string;
			retryAfter?: number | string;
	  }
	/**
	 * Sends any response. A text `body` is sent unchanged (as HTML unless `contentType` is set), a missing one as an
	 * empty body, and anything else as JSON. `work: true` does and charges the work first. `endless: true` repeats the
	 * body, which must not be empty, until the client disconnects.
	 */
	| {
			kind: 'respond';
			status: number;
			body?: unknown;
			contentType?: string;
			headers?: Record<string, string>;
			work?: boolean;
			endless?: boolean;
	  }
	/** Does and charges the work, then resets the connection without a response. */
	| { kind: 'loseAnswer' }
	/** Resets the connection before any work. */
	| { kind: 'reset' }
	/** Never responds. `work: true` still does the work. */
	| { kind: 'hang'; work?: boolean }
	/** Does the work immediately and delays the response. */
	| { kind: 'delay'; ms: number }
	/** Does the work immediately and sends the body in chunks of `bytes` (default 1). */
	| { kind: 'trickle'; everyMs: number; bytes?: number }
	| { kind: 'redirect'; location: string; status?: 301 | 302 | 303 | 307 | 308 }
	/** Create only: the generation will fail. */
	| { kind: 'fail'; reason?: string }
	/** Create only: the generation ends in a state that the spec does not name, without an output or a refund. */
	| { kind: 'end'; status: string }
	/** Create only: the generation takes this many seconds (before the time scale). */
	| { kind: 'seconds'; seconds: number }
	/** Create and status: the output URL in the response points to a closed port. */
	| { kind: 'unreachable' }
	/** Storage: a request for a missing file makes its URL return "missing" for this many seconds, as a cache would. */
	| { kind: 'remember404'; seconds: number }
	/** Storage: the file exists this many seconds before its generation is completed. */
	| { kind: 'early'; seconds: number }
	/** Storage: returns the whole file for any requested range. */
	| { kind: 'ignoreRange' }
	/** Storage: returns 206 with the first `bytes` of the file (default: all of them), for any requested range. */
	| { kind: 'partialContent'; bytes?: number }
	/** Downloads: encodes the file with gzip even if the client does not accept it. */
	| { kind: 'gzip' }
	/** Downloads: closes the connection after this many bytes. `chunked` sends no Content-Length. */
	| { kind: 'truncate'; afterBytes: number; chunked?: boolean }
	/** Downloads: stops sending after this many bytes and keeps the connection open. */
	| { kind: 'stall'; afterBytes: number }
	/** Downloads: rejects the URL as expired. */
	| { kind: 'expire' }
	/** Downloads: sends the file with another Content-Type. */
	| { kind: 'contentType'; value: string }
	/** Downloads: sends the whole file chunked. */
	| { kind: 'noContentLength' }
	/** Downloads: sends a Content-Length that is off by this many bytes. The connection closes after the file. */
	| { kind: 'wrongLength'; by: number };

export type DownloadAction = Extract<
	FaultAction,
	{
		kind:
			| 'truncate'
			| 'stall'
			| 'contentType'
			| 'noContentLength'
			| 'wrongLength'
			| 'gzip'
			| 'ignoreRange'
			| 'partialContent'
			| 'trickle';
	}
>;

/** A rule in the queue. */
export interface FaultOrder {
	on: FaultTarget;
	/** All given conditions must match. `promptIncludes` also applies to status, download and probe requests. */
	match?: { promptIncludes?: string; id?: string };
	/** Number of matching requests that are left alone first. Default 0. */
	skip?: number;
	/** Number of matching requests that get the fault. Default 1. */
	times?: number | 'always';
	/** Random share of the matching requests that get the fault. Later orders can take the others. Default 1: all. */
	share?: number;
	action: FaultAction;
}
