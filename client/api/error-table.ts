/** How a request may be retried (spec 7, retry rules). `slot`: once fewer generations run than the plan allows. */
export type RetryRule = 'never' | 'backoff' | 'slot';

/** Short lines for a title; `null` if unknown or too long. `subject`: the model or generation id of the request. */
type ErrorFacts = Record<'message' | 'param' | 'subject', string | null>;

interface ErrorRow {
	title: string;
	/** What the user can do next. */
	advice: string;
	/** Returns a more specific title; `null` if the facts for it are not known. */
	specific?: (facts: ErrorFacts, title: string) => string | null;
	/** True if the service does not accept the API key. */
	isAboutKey?: true;
	retry?: RetryRule;
	/** True if every further creating request of the step would be rejected too. */
	fatalForStep?: true;
	/** For codes of type `server_error`: the HTTP status in spec 7. A response with another status may be from a proxy. */
	status?: number;
}

function row(title: string, advice: string, rest: Partial<ErrorRow> = {}): ErrorRow {
	return { title, advice, ...rest };
}

const withMessage: ErrorRow['specific'] = ({ message }, title) => message && `${title}: ${message}`;

const API_KEY_ERROR = { isAboutKey: true, fatalForStep: true } as const;
const TRANSIENT = { retry: 'backoff' } as const;

const API_KEY_REJECTED = row(
	'The API key was rejected',
	'Open the Media Generation API credential and check the API key. It may be missing, mistyped, expired or revoked. If you have lost it, create a new one in the service’s app, under API / MCP Access.',
	API_KEY_ERROR,
);

/** The names that the forms give to parameters of the service (spec 4.1 and 4.2). */
const FIELD_NAMES: Partial<Record<string, string>> = {
	aspect_ratio: 'Aspect Ratio',
	duration: 'Duration',
	edit_mode: 'Kind of Edit',
	fps: 'Frames per Second',
	image_url: 'Input Image',
	input_images: 'Input Image URLs',
	inputs: 'Reference Images & Files',
	negative_prompt: 'Negative Prompt',
	resolution: 'Resolution',
	seed: 'Seed',
	size: 'Size',
};

/** Returns the form's name for a parameter, also a nested one (`parameters.seed`). Returns unknown parameters unchanged. */
function fieldOf(param: string): string {
	return FIELD_NAMES[param.replace(/^parameters\./, '')] ?? param;
}

/** False for a text that cannot be a generation ID, such as a row number. Also accepts IDs that are not UUIDs (spec 2.1). */
export function looksLikeId(text: string): boolean {
	return /^[\w-]{16,}$/.test(text);
}

const TRY_LATER = 'Retrying did not help. Try again later.';

/** One row for each code of spec 7, including the alternate codes. */
export const BY_CODE: Record<string, ErrorRow> = {
	invalid_request: row(
		'Invalid request',
		'Check that all required fields of this item are filled in. If it has URLs of files, they must open from the internet without a login.',
		{ specific: withMessage },
	),
	invalid_parameter: row(
		'Invalid parameter',
		'Change the parameter, or choose another model from the list: the allowed sizes, durations and resolutions vary. If it is the URL of a file, it must open from the internet without a login.',
		{ specific: withMessage },
	),
	authentication_error: API_KEY_REJECTED,
	invalid_api_key: API_KEY_REJECTED,
	expired_api_key: row(
		'The API key has expired or was revoked',
		'Create a new API key in the service’s app, under API / MCP Access, and enter it in the credential.',
		API_KEY_ERROR,
	),
	insufficient_credits: row(
		'Not enough credits',
		'Top up the account, or lower the cost: fewer items, a cheaper model, a shorter or smaller output. Then use Retry, or run the workflow again if its items have an Idempotency Key.',
		{ specific: withMessage, fatalForStep: true },
	),
	forbidden: row(
		'The API key lacks permission for this action',
		'Use an API key that may create and read generations, or extend the permissions of this one.',
		API_KEY_ERROR,
	),
	CONNECTION_PAUSED: row(
		'The connected app is paused',
		'Resume it in the service’s app: API / MCP Access → Connected apps. Then use Retry, or run the workflow again if its items have an Idempotency Key.',
		{ fatalForStep: true },
	),
	model_not_found: row(
		'Model not found',
		'Choose a model from the list, or check its ID. Image Generation needs an image model, Video Generation a video model.',
		{ specific: ({ subject }) => subject && `Model ${subject} not found` },
	),
	generation_not_found: row(
		'Generation not found',
		'Use the ID that Image Generation or Video Generation returned, and the credential of the account that created it.',
		{
			specific: ({ subject }) =>
				subject &&
				(looksLikeId(subject)
					? `Generation ${subject} not found`
					: `“${subject}” is not a generation ID`),
		},
	),
	generation_in_progress: row(
		'A conflicting generation is already running',
		'Wait until it has finished. Then use Retry, or run the workflow again if its items have an Idempotency Key.',
	),
	payload_too_large: row(
		'The request is too large',
		'Pass large reference files as https:// URLs. Inline data is limited to about 4.5 MB per file.',
	),
	unsupported_parameter: row(
		'The model does not support a parameter',
		'Remove the option or clear the field, or choose another model.',
		{
			specific: ({ subject, param }) =>
				subject && param && `${subject} does not support ${fieldOf(param)}`,
		},
	),
	CONCURRENCY_LIMIT_REACHED: row(
		'No free slot',
		'The account already runs as many generations as its plan allows. Raise Timeout, let other workflows finish, or choose a larger plan.',
		{ specific: withMessage, retry: 'slot' },
	),
	CONNECTION_LIMIT_REACHED: row(
		'The daily credit limit of the connected app is reached',
		'Raise the limit in the service’s app: API / MCP Access → Connected apps. Or wait: the limit covers the last 24 hours.',
		{ fatalForStep: true },
	),
	server_error: row('The service had an internal error', TRY_LATER, { ...TRANSIENT, status: 500 }),
	model_unavailable: row(
		'The model or its provider is temporarily unavailable',
		'Retrying did not help. Try again later, or choose another model.',
		{ ...TRANSIENT, status: 502 },
	),
	service_unavailable: row('The service is down for maintenance', TRY_LATER, {
		...TRANSIENT,
		status: 503,
	}),
};

/** Our code for every refusal of content, whichever code the service used. Only another model may accept that content. */
export const CONTENT_REFUSED = 'content_refused';
export const REFUSED_CONTENT = row(
	'The service refused the content',
	'Change the prompt or the reference files, or choose another model.',
	{ specific: withMessage },
);

/** True for a code that spec 7 states, alternate codes included. */
export function isSpecified(code: string | null): boolean {
	return code !== null && Object.hasOwn(BY_CODE, code);
}

/** True if a 5xx has the code, type and status of one row of spec 7. Otherwise, the response may be from a proxy. */
export function isListed(code: unknown, type: unknown, status: number): boolean {
	return type === 'server_error' && BY_CODE[String(code)]?.status === status;
}

/** True if a proxy that returns this status may already have passed the request on to the service. */
export function mayHavePassed(status: number): boolean {
	return status >= 500 || status === 408 || status === 499;
}

/** Rows by HTTP status, for responses without a known code. */
const BY_STATUS: Record<number, ErrorRow> = {
	401: API_KEY_REJECTED,
	402: BY_CODE.insufficient_credits,
	// A proxy in front of the service may have a smaller limit, and send an error body without a code of spec 7.
	413: BY_CODE.payload_too_large,
	429: row(
		'Too many requests',
		'Lower Max Concurrent or raise Poll Interval, and try again later.',
		{ specific: withMessage, retry: 'backoff' },
	),
};
const REDIRECT = row(
	'The Base URL redirects to another address',
	'Enter the final address of the service in the credential. The API key is never sent across a redirect.',
	{ fatalForStep: true },
);
const NO_ANSWER = row('The service or a proxy returned an error', TRY_LATER, {
	...TRANSIENT,
	specific: withMessage,
});
const REJECTED = row(
	'The service rejected the request',
	'Check the parameters of this item, and the Base URL in the credential.',
	{ specific: withMessage },
);
const NOT_THE_SERVICE = row(
	'This is not the media service, or a firewall blocked the request',
	'Check the Base URL in the credential, and the network between n8n and the service.',
);

/** Returns the row for an error (spec 7), by its code or else its status. `foreign`: the body is not the service's. */
export function errorRow(code: string | null, status: number, foreign = false): ErrorRow {
	if (isSpecified(code)) return BY_CODE[String(code)];
	if (code === CONTENT_REFUSED) return REFUSED_CONTENT;
	if (status >= 300 && status < 400) return REDIRECT;
	if (status in BY_STATUS) return BY_STATUS[status];
	if (mayHavePassed(status)) return NO_ANSWER;
	return foreign ? NOT_THE_SERVICE : REJECTED;
}
