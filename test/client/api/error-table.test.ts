import { errorRow, failureCause } from '../../../client/api/error-table';
import { errorFromResponse, GenerationError } from '../../../client/api/errors';
import { errorAnswer, errorTable, type ErrorName } from '../../../sandbox/basics/errors';
import { refusal } from '../../support/answers';

interface Row {
	status: number;
	/** The `code` in the response, and the `type`. */
	code: string | number;
	type: string;
	/** The title expected for the message 'Words of the service', the parameter 'fps' and the model 'aurora-1'. */
	title: string;
	/** The advice expected in the description. */
	advice: RegExp;
	/** The expected code of our error, if it differs from `code`. */
	read?: string;
	retry?: 'backoff' | 'slot';
	stops?: true;
}

/** An independent copy of spec 7: its sixteen rows, then the three alternate forms. */
const ROWS: Row[] = [
	{
		status: 400,
		code: 'invalid_request',
		type: 'invalid_request',
		title: 'Invalid request: Words of the service',
		advice: /required fields/,
	},
	{
		status: 400,
		code: 'invalid_parameter',
		type: 'invalid_request',
		title: 'Invalid parameter: Words of the service',
		advice: /Change the parameter/,
	},
	{
		status: 401,
		code: 'authentication_error',
		type: 'auth_error',
		title: 'The API key was rejected',
		advice: /credential/,
		stops: true,
	},
	{
		status: 402,
		code: 'insufficient_credits',
		type: 'billing_error',
		title: 'Not enough credits',
		advice: /Top up/,
		stops: true,
	},
	{
		status: 403,
		code: 'forbidden',
		type: 'auth_error',
		title: 'The API key lacks permission for this action',
		advice: /permissions/,
		stops: true,
	},
	{
		status: 403,
		code: 'CONNECTION_PAUSED',
		type: 'invalid_request_error',
		title: 'The connected app is paused',
		advice: /Resume it .* Connected apps/,
		stops: true,
	},
	{
		status: 404,
		code: 'model_not_found',
		type: 'not_found',
		title: 'Model aurora-1 not found',
		advice: /Choose a model from the list/,
	},
	{
		status: 404,
		code: 'generation_not_found',
		type: 'not_found',
		title: '“aurora-1” is not a generation ID',
		advice: /Use the ID that Image Generation or Video Generation returned/,
	},
	{
		status: 409,
		code: 'generation_in_progress',
		type: 'conflict',
		title: 'A conflicting generation is already running',
		advice: /Wait until it has finished/,
	},
	{
		status: 413,
		code: 'payload_too_large',
		type: 'invalid_request',
		title: 'The request is too large',
		advice: /https:\/\/ URLs.*4\.5 MB/,
	},
	{
		status: 422,
		code: 'unsupported_parameter',
		type: 'invalid_request',
		title: 'aurora-1 does not support Frames per Second',
		advice: /Remove the option or clear the field/,
	},
	{
		status: 429,
		code: 'CONCURRENCY_LIMIT_REACHED',
		type: 'invalid_request_error',
		title: 'No free slot: Words of the service',
		advice: /Raise Timeout/,
		retry: 'slot',
	},
	{
		status: 429,
		code: 'CONNECTION_LIMIT_REACHED',
		type: 'invalid_request_error',
		title: 'The daily credit limit of the connected app is reached',
		advice: /Raise the limit .* Connected apps/,
		stops: true,
	},
	{
		status: 500,
		code: 'server_error',
		type: 'server_error',
		title: 'The service had an internal error',
		advice: /Try again later/,
		retry: 'backoff',
	},
	{
		status: 502,
		code: 'model_unavailable',
		type: 'server_error',
		title: 'The model or its provider is temporarily unavailable',
		advice: /choose another model/,
		retry: 'backoff',
	},
	{
		status: 503,
		code: 'service_unavailable',
		type: 'server_error',
		title: 'The service is down for maintenance',
		advice: /Try again later/,
		retry: 'backoff',
	},
	{
		status: 401,
		code: 401,
		type: 'invalid_api_key',
		read: 'invalid_api_key',
		title: 'The API key was rejected',
		advice: /credential/,
		stops: true,
	},
	{
		status: 401,
		code: 'expired_api_key',
		type: 'auth_error',
		title: 'The API key has expired or was revoked',
		advice: /Create a new API key/,
		stops: true,
	},
	{
		status: 403,
		code: 'insufficient_credits',
		type: 'billing_error',
		title: 'Not enough credits',
		advice: /Top up/,
		stops: true,
	},
];

describe('every row and alternate form of spec 7', () => {
	it('is covered: each error that the sandbox, which reads the specification for itself, can send', () => {
		const names = ({ status, code, type }: Pick<Row, 'status' | 'code' | 'type'>) =>
			`${status} ${code} ${type}`;
		// The specification has no error for paths that it does not define.
		const specified = Object.keys(errorTable).filter((name) => name !== 'not_found');
		const sent = specified.map((name) => {
			const { status, body } = errorAnswer(name as ErrorName);
			return names({ status, ...(body as { error: Pick<Row, 'code' | 'type'> }).error });
		});
		expect(ROWS.map(names).sort()).toEqual(sent.sort());
	});

	it.each(ROWS)(
		'$status $code ($type) says what happened and what to do',
		({ status, code, type, title, advice, read, retry = 'never', stops = false }) => {
			const body = { error: { code, message: 'Words of the service', type, param: 'fps' } };
			const error = errorFromResponse({ status, body }, true, 'aurora-1');
			expect(error).toBeInstanceOf(GenerationError);
			expect(error).toMatchObject({
				message: title,
				serviceMessage: 'Words of the service',
				code: read ?? code,
				status,
				charge: 'none',
				retry,
				fatalForStep: stops,
				generation: null,
			});
			const specific = /Words|aurora/.test(title);
			expect(error.details).toBe(
				[
					specific ? [] : 'The service says: Words of the service.',
					/Frames|found|not a generation/.test(title) ? [] : 'Parameter: fps.',
				]
					.flat()
					.join(' '),
			);
			expect(error.description).toMatch(advice);
			expect(error.description).not.toMatch(/undefined|null|\.\./);
		},
	);

	it.each([
		['parameters.negative_prompt', 'Negative Prompt'],
		['image_url', 'Input Image'],
		['style', 'style'],
	])('names the field of the form that sets the parameter %s: %s', (param, field) => {
		const { status, body } = refusal(422, 'unsupported_parameter');
		const error = { ...(body as { error: object }).error, param };
		const { message } = errorFromResponse({ status, body: { error } }, true, 'lumen-loop');
		expect(message).toBe(`lumen-loop does not support ${field}`);
	});

	it('omits the parameter if the service names none', () => {
		const { message, details } = errorFromResponse(refusal(422, 'unsupported_parameter'), true);
		expect(message).toBe('The model does not support a parameter');
		expect(details).not.toContain('Parameter:');
	});

	it.each([
		['3 credits remaining, 8 required', 'Not enough credits: 8 needed, 3 left'],
		['This needs 8 credits. You have 0.', 'Not enough credits: 8 needed, 0 left'],
		['Your 3 keys share 2 credits, and 8 are required', 'Not enough credits'],
		['Top up', 'Not enough credits'],
	])(
		'has the required and remaining credits in its title, if the service states both: %s',
		(words, title) => {
			const error = errorFromResponse(refusal(402, 'insufficient_credits', words), true);
			expect(error.message).toBe(title);
		},
	);

	it('is decided by the code, not by the status', () => {
		const { message, status, retry } = errorFromResponse(refusal(418, 'server_error'), true);
		expect({ message, status, retry }).toEqual({
			message: 'The service had an internal error',
			status: 418,
			retry: 'backoff',
		});
	});

	it.each(['toString', '__proto__', 'constructor', 'hasOwnProperty'])(
		'is looked up only among the known codes: %s is not one',
		(code) => {
			expect(errorRow(code, 400).title).toBe('The service rejected the request');
		},
	);
});

describe('an unknown code', () => {
	it.each<[number, string, string, boolean]>([
		[300, 'The Base URL redirects to another address', 'never', true],
		[301, 'The Base URL redirects to another address', 'never', true],
		[307, 'The Base URL redirects to another address', 'never', true],
		[400, 'The service rejected the request: The service is sorry', 'never', false],
		[401, 'The API key was rejected', 'never', true],
		[402, 'Not enough credits', 'never', true],
		[403, 'The service rejected the request: The service is sorry', 'never', false],
		[404, 'The service rejected the request: The service is sorry', 'never', false],
		[408, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
		[413, 'The request is too large', 'never', false],
		[429, 'Too many requests: The service is sorry', 'backoff', false],
		[499, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
		[500, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
		[504, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
		[599, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
	])('is interpreted by its status: %i is "%s"', (status, message, retry, fatalForStep) => {
		const error = errorFromResponse(refusal(status, 'brand_new'), true);
		const code = status === 401 ? 'authentication_error' : 'brand_new';
		expect(error).toMatchObject({ message, status, retry, fatalForStep, code });
	});

	it('is http_<status> if the service sends only a message', () => {
		const body = { error: { message: 'Something is wrong' } };
		const error = errorFromResponse({ status: 400, body }, true);
		expect(error.code).toBe('http_400');
		expect(error.message).toContain('Something is wrong');
	});

	it('may have no message', () => {
		const error = errorFromResponse({ status: 404, body: { error: { code: 'lost' } } }, false);
		expect(error.code).toBe('lost');
		expect(error.message).toBe('The service rejected the request');
		expect(error.details).toBe('');
	});
});

describe('the cause that is reported to n8n', () => {
	it.each([
		['authentication_error', 401, 'credential-invalid'],
		['insufficient_credits', 403, 'quota-exhausted'],
		['CONNECTION_LIMIT_REACHED', 429, 'quota-exhausted'],
		['CONCURRENCY_LIMIT_REACHED', 429, 'rate-limited'],
		['http_429', 429, 'rate-limited'],
		['model_not_found', 404, 'configuration-invalid'],
		['server_error', 500, 'temporarily-unavailable'],
		['http_504', 504, 'temporarily-unavailable'],
		['invalid_input', null, 'configuration-invalid'],
		['unexpected_error', null, 'node-defect'],
		['generation_failed', null, undefined],
		['uncertain_charge', 504, undefined],
		['constructor', 400, 'configuration-invalid'],
		['toString', null, undefined],
	])('of %s (%s) is %s', (code, status, cause) => {
		expect(failureCause(code, status)).toBe(cause);
	});
});

describe('the title of insufficient credits', () => {
	it.each([
		['8 credits are required, 3 are left.', 'Not enough credits: 8 needed, 3 left'],
		['You have 3, and need 1,500 credits', 'Not enough credits'],
		['1.5 are left of 8', 'Not enough credits'],
		['You need 1,500', 'Not enough credits'],
	])('has only numbers that are certain: %s', (message, title) => {
		const body = { error: { code: 'insufficient_credits', message } };
		const error = errorFromResponse({ status: 402, body }, true);
		expect(error.message).toBe(title);
		expect(error.details.includes(message)).toBe(!title.includes('needed'));
	});
});

it('a 401 of a creating request is about the key, even if its code is of something else', () => {
	const refused = errorFromResponse(refusal(401, 'model_unavailable'), true);
	expect(refused).toMatchObject({ code: 'authentication_error', charge: 'none', retry: 'never' });
	expect(errorFromResponse(refusal(401, 'expired_api_key'), true).code).toBe('expired_api_key');
});
