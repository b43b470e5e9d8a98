import { errorFromResponse, unreadableAnswer } from '../../../client/api/errors';
import { refusal } from '../../support/answers';

/** Response bodies that do not come from the service. */
const FOREIGN_BODIES: Array<[string, unknown]> = [
	['an HTML page', '<html><body>502 Bad Gateway</body></html>'],
	['an empty string', ''],
	['nothing', undefined],
	['null', null],
	['foreign JSON', { message: 'no healthy upstream' }],
	['an error that is a string', { error: 'Bad Gateway' }],
	['an error that is null', { error: null }],
	['an error without code and message', { error: { id: 7 } }],
	['an array', ['error']],
];

describe('the format with the status as code', () => {
	it('is interpreted by its status if the type is only a category', () => {
		const body = { error: { type: 'auth_error', message: 'No', code: 401 } };
		const error = errorFromResponse({ status: 401, body }, false);
		expect(error.message).toBe('The API key was rejected');
		expect(error.details).toBe('The service says: No.');
	});
});

describe('a response that does not come from the service', () => {
	it.each(FOREIGN_BODIES)('is reported as such: %s', (_, body) => {
		const error = errorFromResponse({ status: 404, body }, true);
		expect(error).toMatchObject({ code: 'http_404', charge: 'none', retry: 'never' });
		expect(error.message).toMatch(/^This is not the media service/);
		expect(error.details).toContain('may come from a proxy or a website');
	});

	it.each(FOREIGN_BODIES)('makes the charge of a creating 5xx unknown: %s', (_, body) => {
		expect(errorFromResponse({ status: 502, body }, true).charge).toBe('unknown');
	});

	it.each([301, 400, 401, 403, 404, 405, 413, 429])(
		'means no charge at %i, which is a rejection',
		(status) => {
			expect(errorFromResponse({ status, body: '<html>' }, true).charge).toBe('none');
		},
	);

	it.each([408, 499, 520, 524, 529])(
		'makes the charge unknown at %i, because the request may have reached the service',
		(status) => {
			expect(errorFromResponse({ status, body: '<html>' }, true).charge).toBe('unknown');
		},
	);

	it.each<[number, object]>([
		// Google's, Azure's, and those of other gateways.
		[503, { code: 503, status: 'UNAVAILABLE' }],
		[503, { code: 'ServiceUnavailable' }],
		[503, { type: 'server_error' }],
		[500, { code: '500', type: 'internal_error' }],
		[500, { code: 500, type: 'server_error' }],
		[500, { code: 'server_error', type: 'internal' }],
		[502, { code: 'bad_gateway', type: 'server_error' }],
		[503, { code: 'server_error', type: 'server_error' }],
		[504, { code: '504', type: 'timeout_error' }],
		[504, { code: 'service_unavailable', type: 'server_error' }],
	])(
		'makes the charge unknown at %i, even if it resembles an error of the service: %j',
		(status, error) => {
			const body = { error: { ...error, message: 'Timeout', param: null } };
			expect(errorFromResponse({ status, body }, true).charge).toBe('unknown');
		},
	);

	it.each<[number, string]>([
		[500, 'server_error'],
		[502, 'model_unavailable'],
		[503, 'service_unavailable'],
	])('means no charge if the error comes from the service itself: %i %s', (status, code) => {
		expect(errorFromResponse(refusal(status, code), true).charge).toBe('none');
	});

	it('is never repeated in the error', () => {
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
	])('creating: %s makes the charge %s', (charging, charge) => {
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

describe('the message of the service', () => {
	const rejected = (message: string, code = 'invalid_parameter') =>
		errorFromResponse(refusal(400, code, message), true, 'kestrel-9');

	it('is part of the title if it is short', () => {
		expect(rejected('fps must be\n12, 24 or 30.')).toMatchObject({
			message: 'Invalid parameter: fps must be 12, 24 or 30',
			details: '',
			serviceMessage: 'fps must be\n12, 24 or 30.',
		});
	});

	it('is part of the details if it is long', () => {
		const long = 'There are many values, and this is none of them. '.repeat(4).trim();
		expect(rejected(long)).toMatchObject({
			message: 'Invalid parameter',
			details: `The service says: ${long}`,
		});
	});

	it('is truncated if it is too long: some services repeat the request', () => {
		const { message, details, serviceMessage } = rejected(`No: ${'iVBORw0K'.repeat(500_000)}`);
		expect(details).toContain('The service says: No: iVBOR');
		expect((message + details + serviceMessage).length).toBeLessThan(3_000);
		expect(serviceMessage).toMatch(/…$/);
	});
});
