import type { Caller } from '../accounts/accounts';

/** A request to the service's origin or the storage origin. */
export interface ServiceRequest {
	method: string;
	/** Without the query. */
	path: string;
	query?: Readonly<Record<string, string | undefined>>;
	/** Headers with lowercase names. */
	headers: Readonly<Record<string, string | undefined>>;
	/** A text or bytes are parsed as JSON. Anything else is used as already parsed. */
	body?: unknown;
	/** The caller that the connector has authenticated. Without one, the request is authenticated by its key. */
	caller?: Caller;
}
