/** How a request may be retried: never, after a backoff (5xx), or once a slot is free (spec 7, retry rules). */
export type RetryRule = 'never' | 'backoff' | 'slot';

/** The category of an error, in n8n's terms. */
export type FailureCause =
	| 'rate-limited'
	| 'quota-exhausted'
	| 'temporarily-unavailable'
	| 'credential-invalid'
	| 'configuration-invalid'
	| 'node-defect';

export interface ErrorRow {
	/** What happened, for the user. */
	title: string;
	/** What the user can do next. */
	advice: string;
	cause: FailureCause;
	retry?: RetryRule;
	/** True if every further creating request of the step would be rejected too. */
	stopsSubmitting?: true;
}

const KEY_REFUSED: ErrorRow = {
	title: 'The API key was refused',
	cause: 'credential-invalid',
	advice:
		'Open the Media Generation API credential and check the key: it may be missing, mistyped, expired or revoked. A lost key is replaced on the API / MCP Access page of the service.',
	stopsSubmitting: true,
};

const OUT_OF_CREDITS: ErrorRow = {
	title: 'Not enough credits',
	advice:
		'Top up the account, or lower the cost (fewer items, a cheaper model, a shorter or smaller output). Then retry this execution.',
	cause: 'quota-exhausted',
	stopsSubmitting: true,
};

const TRANSIENT = 'It was tried several times with growing pauses. Try again later.';

/** One row per code (spec 7). The alternate forms of 401 and 403 have rows of their own. */
const BY_CODE: Record<string, ErrorRow> = {
	invalid_request: {
		title: 'The service could not read the request',
		advice: 'Check that all required fields of this item are filled in and well-formed.',
		cause: 'configuration-invalid',
	},
	invalid_parameter: {
		title: 'A parameter is out of range or not supported',
		advice:
			'Change the parameter that the service names. Which sizes, durations and resolutions there are varies by model.',
		cause: 'configuration-invalid',
	},
	authentication_error: KEY_REFUSED,
	invalid_api_key: KEY_REFUSED,
	expired_api_key: {
		...KEY_REFUSED,
		title: 'The API key has expired or was revoked',
		advice: 'Create a new key on the API / MCP Access page and put it into the credential.',
	},
	insufficient_credits: OUT_OF_CREDITS,
	forbidden: {
		title: 'The API key lacks permission for this action',
		advice: 'Use a key that may create and read generations, or have its permissions extended.',
		stopsSubmitting: true,
		cause: 'credential-invalid',
	},
	CONNECTION_PAUSED: {
		title: 'The connected app is paused',
		advice:
			'Resume it in the app under API / MCP Access, Connected apps. Then retry this execution.',
		stopsSubmitting: true,
		cause: 'configuration-invalid',
	},
	model_not_found: {
		title: 'The model does not exist',
		advice:
			'Choose a model from the list, or check the id: the live catalogue is authoritative. Image Generation takes image models only, Video Generation video models.',
		cause: 'configuration-invalid',
	},
	generation_not_found: {
		title: 'The generation does not exist',
		advice: 'Check the generation id, and that the credential is of the account that created it.',
		cause: 'configuration-invalid',
	},
	generation_in_progress: {
		title: 'A conflicting generation is already running',
		advice: 'Wait until it has finished, then retry this execution.',
		cause: 'temporarily-unavailable',
	},
	payload_too_large: {
		title: 'The request is too large',
		advice: 'Pass large reference inputs as https:// URLs; inline data may hold about 4.5 MB.',
		cause: 'configuration-invalid',
	},
	unsupported_parameter: {
		title: 'The chosen model does not support a parameter',
		advice: 'Remove the parameter that the service names, or choose a model that supports it.',
		cause: 'configuration-invalid',
	},
	CONCURRENCY_LIMIT_REACHED: {
		title: 'No free slot',
		advice:
			'All concurrent generations of the plan are running. Raise Timeout, let other workflows finish, or choose a larger plan.',
		retry: 'slot',
		cause: 'rate-limited',
	},
	CONNECTION_LIMIT_REACHED: {
		title: 'The daily credit limit of the connected app is reached',
		advice:
			'Raise the limit in the app under API / MCP Access, Connected apps, or wait until it frees up (rolling 24 hours).',
		stopsSubmitting: true,
		cause: 'quota-exhausted',
	},
	server_error: {
		title: 'The service had an internal error',
		advice: TRANSIENT,
		retry: 'backoff',
		cause: 'temporarily-unavailable',
	},
	model_unavailable: {
		title: 'The model or its provider is temporarily unavailable',
		advice: `${TRANSIENT} Or choose another model.`,
		retry: 'backoff',
		cause: 'temporarily-unavailable',
	},
	service_unavailable: {
		title: 'The service is down for maintenance',
		advice: TRANSIENT,
		retry: 'backoff',
		cause: 'temporarily-unavailable',
	},
};

/** The HTTP status of each 5xx code of the service (spec 7). */
const OWN_5XX: Record<string, number> = {
	server_error: 500,
	model_unavailable: 502,
	service_unavailable: 503,
};

/** True if a 5xx has a code, type and status that spec 7 lists. Proxies use the same form for other errors. */
export function isListed(code: unknown, type: unknown, status: number): boolean {
	return type === 'server_error' && OWN_5XX[String(code)] === status;
}

/** The row for an unknown code or a foreign body, by HTTP status. */
function byStatus(status: number): ErrorRow {
	if (status >= 300 && status < 400) {
		return {
			title: 'The Base URL redirects elsewhere',
			advice:
				'Put the final address of the service into the credential: the API key is never sent across a redirect.',
			cause: 'configuration-invalid',
			stopsSubmitting: true,
		};
	}
	if (status === 401) return KEY_REFUSED;
	if (status === 402) return OUT_OF_CREDITS;
	// A proxy in front of the service may have a smaller limit, and its own error body.
	if (status === 413) return BY_CODE.payload_too_large;
	if (status === 429) {
		return {
			title: 'Too many requests',
			advice: 'Lower Max Concurrent or raise Poll Interval, and try again later.',
			cause: 'rate-limited',
			retry: 'backoff',
		};
	}
	if (status >= 500 || status === 408 || status === 499) {
		return {
			title: 'The service failed to answer',
			advice: TRANSIENT,
			cause: 'temporarily-unavailable',
			retry: 'backoff',
		};
	}
	return {
		title: 'The service refused the request',
		advice: 'Check the Base URL in the credential and the parameters of this item.',
		cause: 'configuration-invalid',
	};
}

/**
 * Returns the row for an error (spec 7). The status counts only if the code is unknown.
 *
 * @param code the service's code; `null` if the response had none
 */
export function errorRow(code: string | null, status: number): ErrorRow {
	const known = code !== null && Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
	return known ?? byStatus(status);
}

/** Categories of our own error codes. A code with several possible causes has none. */
const OWN_CAUSES: Record<string, FailureCause | undefined> = {
	invalid_input: 'configuration-invalid',
	balance_below_minimum: 'quota-exhausted',
	connection_failed: 'temporarily-unavailable',
	connection_lost: 'temporarily-unavailable',
	invalid_base_url: 'configuration-invalid',
	credential_changed: 'configuration-invalid',
	credential_missing: 'credential-invalid',
	credential_unreadable: 'temporarily-unavailable',
	timeout: 'temporarily-unavailable',
	download_failed: 'temporarily-unavailable',
	unreadable_answer: 'configuration-invalid',
	record_unavailable: 'configuration-invalid',
	unexpected_error: 'node-defect',
	// No category, because some of them suggest a retry, which could charge twice.
	uncertain_charge: undefined,
};

/** @returns the category of an error; `undefined` if its code does not determine one, as for a failed generation */
export function failureCause(code: string, status: number | null): FailureCause | undefined {
	if (Object.hasOwn(OWN_CAUSES, code)) return OWN_CAUSES[code];
	return status === null ? undefined : errorRow(code, status).cause;
}
