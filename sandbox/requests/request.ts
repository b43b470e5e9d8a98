import type { Caller } from '../accounts/accounts';

/** A request at the service's origin, or its storage's. */
export interface ServiceRequest {
	method: string;
	/** Without the query. */
	path: string;
	query?: Readonly<Record<string, string | undefined>>;
	/** Names in lower case. */
	headers: Readonly<Record<string, string | undefined>>;
	/** A text is parsed as JSON; anything else counts as parsed. */
	body?: unknown;
	/** Whom the connector has let in. Without one the request is held to its key. */
	caller?: Caller;
}
