import fc from 'fast-check';

import {
	isCompleted,
	isFailed,
	isFinal,
	lacksOutput,
	NOTHING_KNOWN,
	presignedUrlExpiry,
	readGeneration,
	takeInlineFile,
	unseen,
	type Generation,
} from '../../../client/api/generation';
import { ONLY_ID_KNOWN, wireGeneration } from '../../support/answers';

const now = Date.UTC(2026, 0, 1);

/** In reading order: the long URL is last. */
const KEYS = [
	'status',
	'model',
	'type',
	'id',
	'created',
	'url_expires_at',
	'revised_prompt',
	'timed_out',
	'url',
];

describe('a generation', () => {
	it('is parsed once from the response of the service', () => {
		const body = wireGeneration({ id: 'generation-7', status: 'processing', type: 'video' });
		expect(readGeneration(body, now)).toEqual({
			item: {
				id: 'generation-7',
				status: 'processing',
				type: 'video',
				model: 'aurora-image-1',
				created: now / 1000,
				url: 'https://storage.example.com/outputs/generation-7.png',
				url_expires_at: '2026-01-01T01:00:00.000Z',
				revised_prompt: null,
				timed_out: false,
			},
			failureReason: null,
			isContentRefusal: false,
			isInline: false,
			leftOut: 0,
		});
	});

	it('without any data has the same keys, in the same order', () => {
		expect(Object.keys(NOTHING_KNOWN)).toEqual(KEYS);
		expect(Object.keys(unseen('x').item)).toEqual(KEYS);
	});

	it('has a revised prompt if the model revised it', () => {
		const body = { id: 'x', data: [{ revised_prompt: 'A better cat' }] };
		expect(readGeneration(body, now)?.item.revised_prompt).toBe('A better cat');
	});

	it('is read from its entry if the outer fields are missing', () => {
		const body = { data: [{ generation_id: 'x', status: 'completed', model: 'm', url: 'u' }] };
		expect(readGeneration(body, now)?.item).toEqual({
			id: 'x',
			status: 'completed',
			type: null,
			model: 'm',
			created: null,
			url: 'u',
			url_expires_at: null,
			revised_prompt: null,
			timed_out: false,
		});
	});

	it('without a URL has no expiry', () => {
		const { item } = readGeneration({ id: 'x', created: now / 1000 }, now) ?? {};
		expect(item).toMatchObject({ url: null, url_expires_at: null });
	});

	it('is read from its outer fields if they contradict the entry', () => {
		const body = { ...wireGeneration({ status: 'completed' }), id: 'outer', status: 'processing' };
		expect(readGeneration(body, now)?.item).toMatchObject({ id: 'outer', status: 'processing' });
	});

	it.each<[string, object]>([
		['no data', {}],
		['empty data', { data: [] }],
		['data that is not an array', { data: { url: 'u' } }],
		['an entry that is null', { data: [null] }],
		['an entry that is a string', { data: ['https://example.com'] }],
		['fields of other types', { status: 3, type: [], model: {}, created: '1', data: [{ url: 5 }] }],
	])('with %s is pending, and the other fields are null', (_, rest) => {
		expect(readGeneration({ id: 'x', ...rest }, now)?.item).toEqual({ id: 'x', ...ONLY_ID_KNOWN });
	});

	it.each([
		[null],
		[undefined],
		[''],
		['<html>'],
		[7],
		[[]],
		[{}],
		[{ id: '' }],
		[{ id: NaN }],
		[{ id: {} }],
	])('is null without an id: %j', (body) => {
		expect(readGeneration(body, now)).toBeNull();
	});

	it('always has the same keys in the same order, for any response', () => {
		fc.assert(
			fc.property(fc.object(), fc.object(), fc.string({ minLength: 1 }), (rest, entry, id) => {
				const read = readGeneration({ ...rest, data: [entry], id }, now);
				expect(Object.keys(read?.item ?? {})).toEqual(KEYS);
				expect(Object.values(read?.item ?? {})).not.toContain(undefined);
			}),
		);
	});

	it('is parsed or rejected, and parsing never throws', () => {
		fc.assert(
			fc.property(fc.anything(), (body) => {
				const read = readGeneration(body, now);
				expect(read === null || read.item.id !== '').toBe(true);
			}),
		);
	});
});

describe('the output URL', () => {
	it.each(['failed', 'cancelled'])('is not returned if there is no output: %s', (status) => {
		const { item } = readGeneration(wireGeneration({ status }), now) ?? {};
		expect(item).toMatchObject({ url: null, url_expires_at: null });
	});
});

describe('an output in the response', () => {
	const withOutputs = (status: string, ...data: object[]) =>
		readGeneration({ id: 'x', status, data }, now) as Generation;
	const PNG = 'iVBORw0KGgo=';

	it.each<[string, object]>([
		['b64_json', { b64_json: PNG, url: null }],
		['a data URI in b64_json', { b64_json: `data:image/png;base64,${PNG}` }],
		['a data URI in url', { url: `data:image/png;base64,${PNG}` }],
		['beside an entry without one', { revised_prompt: 'A boat', b64_json: PNG }],
	])('is a file: %s', (_, entry) => {
		const generation = withOutputs('completed', entry);
		expect(generation.item.url).toBeNull();
		expect(lacksOutput(generation)).toBe(false);
		expect(takeInlineFile(generation)?.toString('base64')).toBe(PNG);
	});

	it('is read once, so that a long step does not keep it', () => {
		const generation = withOutputs('completed', { b64_json: PNG });
		takeInlineFile(generation);
		expect(takeInlineFile(generation)).toBeNull();
		expect(lacksOutput(generation)).toBe(false);
	});

	it('is never in the JSON that a sleep stores', () => {
		const generation = withOutputs('completed', { b64_json: PNG });
		expect(JSON.stringify(generation)).not.toContain('iVBOR');
	});

	it.each([
		['before the generation is completed', withOutputs('processing', { b64_json: PNG })],
		['if it is empty', withOutputs('completed', { b64_json: '', url: 'data:,' })],
	])('is none %s', (_, generation) => {
		expect(takeInlineFile(generation)).toBeNull();
		expect(generation.item.url).toBeNull();
	});

	it('counts among the outputs that are left out', () => {
		expect(withOutputs('completed', { b64_json: PNG }, { b64_json: PNG }).leftOut).toBe(1);
	});
});

describe('the reason why a generation failed', () => {
	it.each([
		[undefined, null],
		[null, null],
		['out of paint', 'out of paint'],
		[{ message: 'out of paint', code: 'paint' }, 'out of paint'],
		[{ reason: 'out of paint' }, 'out of paint'],
		[{ code: 'no_paint' }, 'no_paint'],
		[{ message: '', code: 'no_paint' }, 'no_paint'],
		[{ details: [1] }, '{"details":[1]}'],
		[42, '42'],
	])('is read from any format: %j', (error, reason) => {
		expect(readGeneration(wireGeneration({ error }), now)?.failureReason).toBe(reason);
	});

	it('is read from the entry if it is there', () => {
		const body = { id: 'x', status: 'failed', data: [{ error: { message: 'out of paint' } }] };
		expect(readGeneration(body, now)?.failureReason).toBe('out of paint');
	});

	it.each(['x'.repeat(4_000_000), { message: 'x'.repeat(4_000_000) }])(
		'is truncated if it is too long: some services repeat the request',
		(error) => {
			const { failureReason } = readGeneration(wireGeneration({ error }), now) ?? {};
			expect(failureReason).toBe(`${'x'.repeat(1_000)}…`);
		},
	);
});

describe('the end of a generation', () => {
	it.each([
		['pending', false, false],
		['processing', false, false],
		['completed', true, false],
		['failed', false, true],
		['something new', false, false],
	])('%s: completed %s, failed %s', (status, completed, failed) => {
		const read = readGeneration(wireGeneration({ status }), now);
		if (read === null) throw new Error('Not read');
		expect([isCompleted(read), isFailed(read), isFinal(read)]).toEqual([
			completed,
			failed,
			completed || failed,
		]);
	});
});

it('a number is an id too: what was charged is not lost', () => {
	expect(readGeneration({ id: 7, status: 'pending' }, 0)?.item.id).toBe('7');
});

it('an expiry in milliseconds is not a date in seconds', () => {
	const url = 'https://files.example/a.png?Expires=1795514389004';
	expect(presignedUrlExpiry(url, null, 0)).toBeNull();
});
