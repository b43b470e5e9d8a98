/** How a request may be retried: never, after a backoff, or once a slot is free (spec 7, retry rules). */
export type RetryRule = 'never' | 'backoff' | 'slot';

/** The category of an error, in n8n's terms. */
type FailureCause =
	| 'rate-limited'
	| 'quota-exhausted'
	| 'temporarily-unavailable'
	| 'credential-invalid'
	| 'configuration-invalid'
	| 'node-defect';

/** What is known about a rejected request, each as a short line for a title; `null` if unknown or too long. */
interface ErrorFacts {
	/** The service's message. */
	message: string | null;
	/** The parameter that the service names. */
	param: string | null;
	/** The model or the generation id of the request. */
	subject: string | null;
}

interface ErrorRow {
	/** What happened, for the user. */
	title: string;
	/** A more specific title, if the facts for it are known. */
	specific?: (facts: ErrorFacts) => string | null;
	/** What the user can do next. */
	advice: string;
	/** By default `configuration-invalid`. */
	cause?: FailureCause;
	retry?: RetryRule;
	/** True if every further creating request of the step would be rejected too. */
	fatalForStep?: true;
}

/** The title, followed by the service's message. */
const withMessage = (title: string) => ({
	title,
	specific: ({ message }: ErrorFacts) => message && `${title}: ${message}`,
});

const KEY_REJECTED: ErrorRow = {
	title: 'The API key was rejected',
	cause: 'credential-invalid',
	advice:
		'Open the Media Generation API credential and check the key. It may be missing, mistyped, expired or revoked. Replace a lost key in the service’s app, on the page API / MCP Access.',
	fatalForStep: true,
};

const OUT_OF_CREDITS: ErrorRow = {
	title: 'Not enough credits',
	specific: ({ message }) => {
		// The message states the credits required and the credits left (spec 7): the larger number is required.
		const numbers = message?.match(/\d([\d.,]*\d)?/g) ?? [];
		// The parts of "1,500" are not two numbers.
		if (numbers.length !== 2 || !numbers.every((one) => /^\d+$/.test(one))) return null;
		const [left, needed] = numbers.map(Number).sort((a, b) => a - b);
		return `Not enough credits: ${needed} needed, ${left} left`;
	},
	advice:
		'Top up the account, or lower the cost: fewer items, a cheaper model, a shorter or smaller output. Then use Retry, or run the workflow again if its items have an Idempotency Key.',
	cause: 'quota-exhausted',
	fatalForStep: true,
};

const REQUEST_TOO_LARGE: ErrorRow = {
	title: 'The request is too large',
	advice:
		'Pass large reference files as https:// URLs. Inline data is limited to about 4.5 MB per file.',
};

const TRANSIENT = {
	advice: 'Retrying did not help. Try again later.',
	cause: 'temporarily-unavailable',
	retry: 'backoff',
} as const;

/** One row per code (spec 7). The alternate forms of 401 and 403 have rows of their own. */
const BY_CODE: Record<string, ErrorRow> = {
	invalid_request: {
		...withMessage('Invalid request'),
		advice: 'Check that all required fields of this item are filled in.',
	},
	invalid_parameter: {
		...withMessage('Invalid parameter'),
		advice: 'Change the parameter. The allowed sizes, durations and resolutions vary by model.',
	},
	authentication_error: KEY_REJECTED,
	invalid_api_key: KEY_REJECTED,
	expired_api_key: {
		...KEY_REJECTED,
		title: 'The API key has expired or was revoked',
		advice:
			'Create a new key in the service’s app, on the page API / MCP Access, and enter it in the credential.',
	},
	insufficient_credits: OUT_OF_CREDITS,
	forbidden: {
		title: 'The API key lacks permission for this action',
		advice:
			'Use a key that may create and read generations, or extend the permissions of this key.',
		fatalForStep: true,
		cause: 'credential-invalid',
	},
	CONNECTION_PAUSED: {
		title: 'The connected app is paused',
		advice:
			'Resume it in the service’s app: API / MCP Access → Connected apps. Then use Retry, or run the workflow again if its items have an Idempotency Key.',
		fatalForStep: true,
	},
	model_not_found: {
		title: 'Model not found',
		specific: ({ subject }) => subject && `Model ${subject} not found`,
		advice:
			'Choose a model from the list, or check its ID. Image Generation needs an image model, Video Generation a video model.',
	},
	generation_not_found: {
		title: 'Generation not found',
		specific: ({ subject }) => subject && `Generation ${subject} not found`,
		advice: 'Check the generation ID, and use the credential of the account that created it.',
	},
	generation_in_progress: {
		title: 'A conflicting generation is already running',
		advice:
			'Wait until it has finished. Then use Retry, or run the workflow again if its items have an Idempotency Key.',
		cause: 'temporarily-unavailable',
	},
	payload_too_large: REQUEST_TOO_LARGE,
	unsupported_parameter: {
		title: 'The model does not support a parameter',
		specific: ({ subject, param }) => subject && param && `${subject} does not support ${param}`,
		advice: 'Clear the parameter, or choose another model.',
	},
	CONCURRENCY_LIMIT_REACHED: {
		...withMessage('No free slot'),
		advice:
			'The plan’s limit of concurrent generations is reached. Raise Timeout, let other workflows finish, or choose a larger plan.',
		retry: 'slot',
		cause: 'rate-limited',
	},
	CONNECTION_LIMIT_REACHED: {
		title: 'The daily credit limit of the connected app is reached',
		advice:
			'Raise the limit in the service’s app: API / MCP Access → Connected apps. Or wait: the limit covers the last 24 hours.',
		fatalForStep: true,
		cause: 'quota-exhausted',
	},
	server_error: { ...TRANSIENT, title: 'The service had an internal error' },
	model_unavailable: {
		...TRANSIENT,
		title: 'The model or its provider is temporarily unavailable',
		advice: 'Retrying did not help. Try again later, or choose another model.',
	},
	service_unavailable: { ...TRANSIENT, title: 'The service is down for maintenance' },
};

/** The HTTP status of each 5xx code of the service (spec 7). */
const SERVICE_5XX: Record<string, number> = {
	server_error: 500,
	model_unavailable: 502,
	service_unavailable: 503,
};

/** True if a 5xx has a code, type and status that spec 7 lists. Proxies use the same form for other errors. */
export function isListed(code: unknown, type: unknown, status: number): boolean {
	return type === 'server_error' && SERVICE_5XX[String(code)] === status;
}

const REDIRECT: ErrorRow = {
	title: 'The Base URL redirects to another address',
	advice:
		'Enter the final address of the service in the credential. The API key is never sent across a redirect.',
	fatalForStep: true,
};

const TOO_MANY_REQUESTS: ErrorRow = {
	...withMessage('Too many requests'),
	advice: 'Lower Max Concurrent or raise Poll Interval, and try again later.',
	cause: 'rate-limited',
	retry: 'backoff',
};

const NO_ANSWER: ErrorRow = {
	...TRANSIENT,
	...withMessage('The service or a proxy returned an error'),
};

const BLOCKED: ErrorRow = {
	title: 'A firewall blocked the request, or this is not the media service',
	advice: 'Check the Base URL in the credential, and the network between n8n and the service.',
};

const NOT_THE_SERVICE: ErrorRow = {
	title: 'This is not the media service',
	advice: 'Check the Base URL in the credential.',
};

const REJECTED: ErrorRow = {
	...withMessage('The service rejected the request'),
	advice: 'Check the parameters of this item, and the Base URL in the credential.',
};

/**
 * Returns the row for an error (spec 7). The status counts only if the code is unknown.
 *
 * @param code the service's code; `null` if the response had none
 * @param foreign true if the body is not the service's own
 */
export function errorRow(code: string | null, status: number, foreign = false): ErrorRow {
	if (code !== null && Object.hasOwn(BY_CODE, code)) return BY_CODE[code];
	if (status >= 300 && status < 400) return REDIRECT;
	if (status === 401) return KEY_REJECTED;
	if (status === 402) return OUT_OF_CREDITS;
	// A proxy in front of the service may have a smaller limit, and its own error body.
	if (status === 413) return REQUEST_TOO_LARGE;
	if (status === 429) return TOO_MANY_REQUESTS;
	if (status >= 500 || status === 408 || status === 499) return NO_ANSWER;
	if (!foreign) return REJECTED;
	return status === 403 ? BLOCKED : NOT_THE_SERVICE;
}

/** Categories of our own error codes. A code with several possible causes has none. */
const OWN_CAUSES: Record<string, FailureCause | undefined> = {
	invalid_input: 'configuration-invalid',
	balance_below_minimum: 'quota-exhausted',
	generation_limit_reached: 'quota-exhausted',
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

/** Returns the category of an error; `undefined` if its code does not determine one, as for a failed generation. */
export function failureCause(code: string, status: number | null): FailureCause | undefined {
	if (Object.hasOwn(OWN_CAUSES, code)) return OWN_CAUSES[code];
	return status === null ? undefined : (errorRow(code, status).cause ?? 'configuration-invalid');
}
