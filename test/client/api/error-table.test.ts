import { errorFromResponse, GenerationError } from '../../../client/api/errors';
import { errorAnswer, errorTable, type ErrorName } from '../../../sandbox/basics/errors';
import { refusal } from '../../support/answers';

interface Expected {
	/** The code of our error, if it differs from that in the response. */
	read?: string;
	retry?: 'backoff' | 'slot';
	stops?: true;
}

type Row = [error: `${number} ${string} ${string}`, title: string, advice: RegExp, Expected?];

/**
 * An independent copy of spec 7: the status, code and type of its sixteen rows, then of the three alternate forms. The
 * titles are for the message 'Words of the service', the parameter 'fps' and the model 'aurora-1'.
 */
const ROWS: Row[] = [
	[
		'400 invalid_request invalid_request',
		'Invalid request: Words of the service',
		/required fields .* URLs .* open from the internet without a login/,
	],
	[
		'400 invalid_parameter invalid_request',
		'Invalid parameter: Words of the service',
		/Change the parameter.* another model from the list.* open from the internet without a login/,
	],
	[
		'401 authentication_error auth_error',
		'The API key was rejected',
		/credential/,
		{ stops: true },
	],
	[
		'402 insufficient_credits billing_error',
		'Not enough credits: Words of the service',
		/Top up/,
		{ stops: true },
	],
	[
		'403 forbidden auth_error',
		'The API key lacks permission for this action',
		/permissions/,
		{ stops: true },
	],
	[
		'403 CONNECTION_PAUSED invalid_request_error',
		'The connected app is paused',
		/Resume it .* Connected apps/,
		{ stops: true },
	],
	['404 model_not_found not_found', 'Model aurora-1 not found', /Choose a model from the list/],
	[
		'404 generation_not_found not_found',
		'“aurora-1” is not a generation ID',
		/Use the ID that Image Generation or Video Generation returned/,
	],
	[
		'409 generation_in_progress conflict',
		'A conflicting generation is already running',
		/Wait until it has finished/,
	],
	['413 payload_too_large invalid_request', 'The request is too large', /https:\/\/ URLs.*4\.5 MB/],
	[
		'422 unsupported_parameter invalid_request',
		'aurora-1 does not support Frames per Second',
		/Remove the option or clear the field/,
	],
	[
		'429 CONCURRENCY_LIMIT_REACHED invalid_request_error',
		'No free slot: Words of the service',
		/Raise Timeout/,
		{ retry: 'slot' },
	],
	[
		'429 CONNECTION_LIMIT_REACHED invalid_request_error',
		'The daily credit limit of the connected app is reached',
		/Raise the limit .* Connected apps/,
		{ stops: true },
	],
	[
		'500 server_error server_error',
		'The service had an internal error',
		/Try again later/,
		{ retry: 'backoff' },
	],
	[
		'502 model_unavailable server_error',
		'The model or its provider is temporarily unavailable',
		/choose another model/,
		{ retry: 'backoff' },
	],
	[
		'503 service_unavailable server_error',
		'The service is down for maintenance',
		/Try again later/,
		{ retry: 'backoff' },
	],
	[
		'401 401 invalid_api_key',
		'The API key was rejected',
		/credential/,
		{ read: 'invalid_api_key', stops: true },
	],
	[
		'401 expired_api_key auth_error',
		'The API key has expired or was revoked',
		/Create a new API key/,
		{ stops: true },
	],
	[
		'403 insufficient_credits billing_error',
		'Not enough credits: Words of the service',
		/Top up/,
		{ stops: true },
	],
];

describe('every row and alternate form of spec 7', () => {
	it('is covered: each error that the sandbox, which reads the specification for itself, can send', () => {
		// The specification has no error for paths that it does not define.
		const specified = Object.keys(errorTable).filter((name) => name !== 'not_found');
		const sent = specified.map((name) => {
			const { status, body } = errorAnswer(name as ErrorName);
			const { code, type } = (body as { error: { code: string; type: string } }).error;
			return `${status} ${code} ${type}`;
		});
		expect(ROWS.map(([error]) => error).sort()).toEqual(sent.sort());
	});

	it.each(ROWS)(
		'%s says what happened and what to do',
		(specified, title, advice, { read, retry = 'never', stops = false } = {}) => {
			const [status, name, type] = specified.split(' ');
			// One of the alternate forms has the status as its code.
			const code = name === status ? Number(name) : name;
			const body = { error: { code, message: 'Words of the service', type, param: 'fps' } };
			const error = errorFromResponse({ status: Number(status), body }, true, 'aurora-1');
			expect(error).toBeInstanceOf(GenerationError);
			expect(error).toMatchObject({
				message: title,
				serviceMessage: 'Words of the service',
				code: read ?? code,
				status: Number(status),
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
});

describe('an unknown code', () => {
	it.each<[number, string, string, boolean]>([
		[301, 'The Base URL redirects to another address', 'never', true],
		[400, 'The service rejected the request: The service is sorry', 'never', false],
		[401, 'The API key was rejected', 'never', true],
		[402, 'Not enough credits: The service is sorry', 'never', true],
		[408, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
		[413, 'The request is too large', 'never', false],
		[429, 'Too many requests: The service is sorry', 'backoff', false],
		[500, 'The service or a proxy returned an error: The service is sorry', 'backoff', false],
	])('is interpreted by its status: %i is "%s"', (status, message, retry, fatalForStep) => {
		const error = errorFromResponse(refusal(status, 'brand_new'), true);
		const code = status === 401 ? 'authentication_error' : 'brand_new';
		expect(error).toMatchObject({ message, status, retry, fatalForStep, code });
	});
});

it('a 401 of a creating request is about the key, even if its code is of something else', () => {
	const refused = errorFromResponse(refusal(401, 'model_unavailable'), true);
	expect(refused).toMatchObject({ code: 'authentication_error', charge: 'none', retry: 'never' });
	expect(errorFromResponse(refusal(401, 'expired_api_key'), true).code).toBe('expired_api_key');
});
