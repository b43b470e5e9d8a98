import {
	CancelledError,
	errorFromResponse,
	GenerationError,
	InvalidInputError,
	sentences,
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
		expect(error.message).toBe('The API key was refused: No');
	});
});

describe('an answer that is not the service’s own', () => {
	it.each(FOREIGN_BODIES)('says so: %s', (_, body) => {
		const error = errorFromResponse({ status: 404, body }, true);
		expect(error).toMatchObject({ code: 'http_404', charge: 'none', retry: 'never' });
		expect(error.description).toContain('not the service’s own');
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
		expect(errorFromResponse({ status: 500, body }, true).description).not.toContain('svc_live');
	});
});

describe('a success that cannot be read', () => {
	it.each([
		[true, 'unknown'],
		[false, 'none'],
	])('creating: %s leaves the charge %s', (charging, charge) => {
		const error = unreadableAnswer({ status: 200, body: '<html>' }, charging);
		expect(error).toMatchObject({
			message: 'The answer of the service could not be read',
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
		stopsSubmitting: true,
		generation: { id: 'generation-1' },
	});

	it('claims nothing by default', () => {
		expect({ ...new GenerationError({ title: '', description: '', code: 'x' }) }).toEqual({
			name: 'GenerationError',
			code: 'x',
			description: '',
			said: null,
			status: null,
			charge: 'none',
			retry: 'never',
			stopsSubmitting: false,
			generation: null,
			unsent: false,
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

describe('sentences', () => {
	it('joins what there is to say, each with its full stop', () => {
		expect(sentences('One', 'Two.', null, undefined, false, '', 'Three?', 'Four!')).toBe(
			'One. Two. Three? Four!',
		);
		expect(sentences('v1.5 is old', 'v2 is not')).toBe('v1.5 is old. v2 is not.');
		expect(sentences()).toBe('');
	});
});

describe('the words of the service', () => {
	const said = (words: string) => errorFromResponse(refusal(404, 'model_not_found', words), true);

	it('are part of the title where they are short', () => {
		expect(said('Model not found: kestrel-9.')).toMatchObject({
			message: 'The model does not exist: Model not found: kestrel-9',
			said: 'Model not found: kestrel-9.',
		});
	});

	it('are part of the description where they are long', () => {
		const words = 'There are many models, and this is none of them. '.repeat(4).trim();
		const { message, description } = said(words);
		expect(message).toBe('The model does not exist');
		expect(description).toContain(`The service says: ${words} Choose a model`);
	});

	it('are cut where they go on for too long: some services repeat what they were sent', () => {
		const {
			message,
			description,
			said: kept,
		} = said(`No such thing: ${'iVBORw0K'.repeat(500_000)}`);
		expect(message + description).toContain('The service says: No such thing: iVBOR');
		expect((message + description + kept).length).toBeLessThan(3_000);
		expect(kept).toMatch(/…$/);
	});

	it.each([
		'The model does not exist.',
		'the MODEL does not exist!',
		'This model does not exist at all.',
		' ',
	])('are left out where they say what the title says: "%s"', (words) => {
		const { message, description } = said(words);
		expect(message).toBe('The model does not exist');
		expect(description).not.toContain('The service says');
	});

	it.each([
		['Model 9 does not exist', 'Model 9 does not exist'],
		['v1.5 is no model of ours.', 'v1.5 is no model of ours'],
		['The model does not exist. Did you mean kestrel?', 'Did you mean kestrel?'],
	])('are part of it where they say more: "%s"', (words, told) => {
		expect(said(words).message).toBe(`The model does not exist: ${told}`);
	});

	it('are one line in a title', () => {
		expect(said('Too\n\tbad').message).toBe('The model does not exist: Too bad');
	});
});
