import {
	CancelledError,
	errorFromResponse,
	GenerationError,
	InvalidInputError,
	unreadableAnswer,
} from '../../../client/api/errors';
import { refusal } from '../../support/answers';

/** Bodies that are not the service's own. */
const FOREIGN_BODIES: Array<[string, unknown]> = [
	['a page', '<html><body>502 Bad Gateway</body></html>'],
	['an empty text', ''],
	['nothing', undefined],
	['null', null],
	['foreign JSON', { message: 'no healthy upstream' }],
	['an error that is a text', { error: 'Bad Gateway' }],
	['an error that is null', { error: null }],
	['an error without code and message', { error: { id: 7 } }],
	['an array', ['error']],
];

describe('the form with the status as code', () => {
	it('takes the code from the type', () => {
		const body = { error: { type: 'expired_api_key', message: 'Expired', code: 401 } };
		expect(errorFromResponse({ status: 401, body }, false).code).toBe('expired_api_key');
	});

	it('takes it where the code is an empty text, too', () => {
		const body = { error: { type: 'expired_api_key', message: 'Expired', code: '' } };
		expect(errorFromResponse({ status: 401, body }, false).code).toBe('expired_api_key');
	});

	it('is read by its status where the type is a category only', () => {
		const body = { error: { type: 'auth_error', message: 'No', code: 401 } };
		const error = errorFromResponse({ status: 401, body }, false);
		expect(error.message).toBe('The API key was rejected');
		expect(error.details).toBe('The service says: No.');
	});
});

describe('an answer that is not the service’s own', () => {
	it.each(FOREIGN_BODIES)('says so: %s', (_, body) => {
		const error = errorFromResponse({ status: 404, body }, true);
		expect(error).toMatchObject({ code: 'http_404', charge: 'none', retry: 'never' });
		expect(error.message).toBe('This is not the media service');
		expect(error.details).toContain('came from another server');
	});

	it.each(FOREIGN_BODIES)('leaves the charge open on a creating 5xx: %s', (_, body) => {
		expect(errorFromResponse({ status: 502, body }, true).charge).toBe('unknown');
	});

	it.each<[string, object]>([
		['Google’s', { code: 503, message: 'The service is unavailable', status: 'UNAVAILABLE' }],
		['Azure’s', { code: 'ServiceUnavailable', message: 'The service is unavailable' }],
		['one with a message only', { message: 'upstream connect error' }],
		['one with a type only', { type: 'server_error', message: 'Timeout' }],
	])('leaves the charge open on a creating 5xx, like a gateway’s own error: %s', (_, error) => {
		expect(errorFromResponse({ status: 503, body: { error } }, true).charge).toBe('unknown');
	});

	it('leaves no charge open on a request that charges nothing', () => {
		expect(errorFromResponse({ status: 502, body: '' }, false).charge).toBe('none');
	});

	it.each([301, 400, 401, 403, 404, 405, 413, 429])(
		'leaves no charge open at %i, which is a refusal',
		(status) => {
			expect(errorFromResponse({ status, body: '<html>' }, true).charge).toBe('none');
		},
	);

	it.each([408, 499, 520, 524, 529])(
		'leaves the charge open at %i: it lost sight of it',
		(status) => {
			expect(errorFromResponse({ status, body: '<html>' }, true).charge).toBe('unknown');
		},
	);

	it.each<[number, object]>([
		[500, { code: '500', type: 'internal_error' }],
		[500, { code: 500, type: 'server_error' }],
		[500, { code: 'server_error', type: 'internal' }],
		[502, { code: 'bad_gateway', type: 'server_error' }],
		[503, { code: 'server_error', type: 'server_error' }],
		[504, { code: '504', type: 'timeout_error' }],
		[504, { code: 'service_unavailable', type: 'server_error' }],
	])('leaves the charge open at %i however much it looks like one: %j', (status, error) => {
		const body = { error: { ...error, message: 'Timeout', param: null } };
		expect(errorFromResponse({ status, body }, true).charge).toBe('unknown');
	});

	it.each<[number, string]>([
		[500, 'server_error'],
		[502, 'model_unavailable'],
		[503, 'service_unavailable'],
	])('leaves no charge open where the service itself speaks: %i %s', (status, code) => {
		expect(errorFromResponse(refusal(status, code), true).charge).toBe('none');
	});

	it('never repeats what stands in it', () => {
		const body = '<html>svc_live_0123</html>';
		expect(JSON.stringify(errorFromResponse({ status: 500, body }, true))).not.toContain(
			'svc_live',
		);
	});
});

describe('a success that cannot be read', () => {
	it.each([
		[true, 'unknown'],
		[false, 'none'],
	])('creating: %s leaves the charge %s', (charging, charge) => {
		const error = unreadableAnswer({ status: 200, body: '<html>' }, charging);
		expect(error).toMatchObject({
			message: 'The response is not from the media service',
			code: 'unreadable_answer',
			status: 200,
			charge,
			retry: 'backoff',
		});
		expect(error.description).toContain('Base URL');
	});
});

describe('an error', () => {
	const full = new GenerationError({
		title: 'Title',
		description: 'Description',
		code: 'code',
		status: 500,
		charge: 'paid',
		retry: 'backoff',
		fatalForStep: true,
		generation: { id: 'generation-1' },
	});

	it('claims nothing by default', () => {
		expect({ ...new GenerationError({ title: '', description: '', code: 'x' }) }).toEqual({
			name: 'GenerationError',
			code: 'x',
			details: '',
			description: '',
			serviceMessage: null,
			status: null,
			charge: 'none',
			retry: 'never',
			fatalForStep: false,
			generation: null,
			skipped: false,
		});
	});

	it('with changes keeps all else', () => {
		const changed = full.with({ title: 'Other' });
		expect(changed.message).toBe('Other');
		expect({ ...changed }).toEqual({ ...full });
		expect({ ...full.with({ charge: 'none' }) }).toEqual({ ...full, charge: 'none' });
		expect(full.with({}).message).toBe('Title');
	});

	it('of bad input is never tried again and costs nothing', () => {
		const error = new InvalidInputError('Prompt is empty', 'Fill it in.');
		expect(error).toBeInstanceOf(GenerationError);
		expect(error).toMatchObject({
			name: 'InvalidInputError',
			code: 'invalid_input',
			charge: 'none',
			retry: 'never',
			status: null,
		});
	});

	it('of a stop is no generation error', () => {
		expect(new CancelledError()).not.toBeInstanceOf(GenerationError);
		expect(new CancelledError().name).toBe('CancelledError');
	});
});

describe('the message of the service', () => {
	const rejected = (message: string, code = 'invalid_parameter') =>
		errorFromResponse(refusal(400, code, message), true, 'kestrel-9');

	it('is part of the title where it is short', () => {
		expect(rejected('fps must be\n12, 24 or 30.')).toMatchObject({
			message: 'Invalid parameter: fps must be 12, 24 or 30',
			details: '',
			serviceMessage: 'fps must be\n12, 24 or 30.',
		});
	});

	it('is part of the details where it is long', () => {
		const long = 'There are many values, and this is none of them. '.repeat(4).trim();
		expect(rejected(long)).toMatchObject({
			message: 'Invalid parameter',
			details: `The service says: ${long}`,
		});
	});

	it('is not repeated where the title is as specific', () => {
		expect(rejected('Model not found: kestrel-9.', 'model_not_found')).toMatchObject({
			message: 'Model kestrel-9 not found',
			details: '',
		});
	});

	it('is cut where it is too long: some services repeat what they were sent', () => {
		const { message, details, serviceMessage } = rejected(`No: ${'iVBORw0K'.repeat(500_000)}`);
		expect(details).toContain('The service says: No: iVBOR');
		expect((message + details + serviceMessage).length).toBeLessThan(3_000);
		expect(serviceMessage).toMatch(/…$/);
	});
});
