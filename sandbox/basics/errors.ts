/** The format of an error response. `alternate` is the form with a numeric code (spec 7). */
interface ErrorRow {
	readonly status: number;
	readonly code: string;
	readonly type: string;
	readonly message: string;
	readonly form?: 'alternate';
}

const row = (status: number, code: string, type: string, message: string): ErrorRow => ({
	status,
	code,
	type,
	message,
});

/** The sixteen rows of spec 7, then its three alternate forms. Each has a name here. */
export const errorTable = {
	invalid_request: row(400, 'invalid_request', 'invalid_request', 'The request is malformed.'),
	invalid_parameter: row(
		400,
		'invalid_parameter',
		'invalid_request',
		'A parameter is out of range.',
	),
	authentication_error: row(
		401,
		'authentication_error',
		'auth_error',
		'The API key is missing, invalid or revoked.',
	),
	insufficient_credits: row(402, 'insufficient_credits', 'billing_error', 'Not enough credits.'),
	forbidden: row(
		403,
		'forbidden',
		'auth_error',
		'This API key does not have permission for this action.',
	),
	CONNECTION_PAUSED: row(
		403,
		'CONNECTION_PAUSED',
		'invalid_request_error',
		'This connected app is paused. Its owner can resume it under API / MCP Access.',
	),
	model_not_found: row(404, 'model_not_found', 'not_found', 'The model does not exist.'),
	generation_not_found: row(
		404,
		'generation_not_found',
		'not_found',
		'The generation does not exist.',
	),
	generation_in_progress: row(
		409,
		'generation_in_progress',
		'conflict',
		'A conflicting generation is already running.',
	),
	payload_too_large: row(
		413,
		'payload_too_large',
		'invalid_request',
		'The request body exceeds the size limit.',
	),
	unsupported_parameter: row(
		422,
		'unsupported_parameter',
		'invalid_request',
		'The model does not support this parameter.',
	),
	CONCURRENCY_LIMIT_REACHED: row(
		429,
		'CONCURRENCY_LIMIT_REACHED',
		'invalid_request_error',
		"All of the plan's concurrent generations are running.",
	),
	CONNECTION_LIMIT_REACHED: row(
		429,
		'CONNECTION_LIMIT_REACHED',
		'invalid_request_error',
		'The connected app would exceed its daily credit limit.',
	),
	server_error: row(500, 'server_error', 'server_error', 'An internal error occurred.'),
	model_unavailable: row(
		502,
		'model_unavailable',
		'server_error',
		'The model provider is temporarily unavailable.',
	),
	service_unavailable: row(
		503,
		'service_unavailable',
		'server_error',
		'The service is down for maintenance.',
	),
	invalid_api_key: {
		...row(401, 'invalid_api_key', 'invalid_api_key', 'The API key is not valid.'),
		form: 'alternate',
	},
	expired_api_key: row(
		401,
		'expired_api_key',
		'auth_error',
		'The API key has been revoked or has expired.',
	),
	insufficient_credits_403: row(
		403,
		'insufficient_credits',
		'billing_error',
		'The account has no remaining credits.',
	),
	// Not in the spec's table: for paths that the spec does not define.
	not_found: row(404, 'not_found', 'not_found', 'There is nothing at this address.'),
} as const satisfies Record<string, ErrorRow>;

/** A row of the table above. */
export type ErrorName = keyof typeof errorTable;

/** Returns true if the table has a row of that name. */
export function isErrorName(name: string): name is ErrorName {
	return Object.hasOwn(errorTable, name);
}

/** Thrown inside the service and sent as an error response (spec 2.5). */
export class ServiceError extends Error {
	constructor(
		readonly row: ErrorName,
		message: string = errorTable[row].message,
		readonly param: string | null = null,
	) {
		super(message);
	}
}

/** Returns the status and body of an error (spec 2.5, or the alternate form of spec 7). */
export function errorAnswer(
	name: ErrorName,
	message?: string,
	param: string | null = null,
): { status: number; body: { error: object } } {
	const found: ErrorRow = errorTable[name];
	const text = message ?? found.message;
	const body =
		found.form === 'alternate'
			? { error: { type: found.type, message: text, code: found.status } }
			: { error: { code: found.code, message: text, type: found.type, param } };
	return { status: found.status, body };
}
