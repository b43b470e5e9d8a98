import fc from 'fast-check';

import {
	lacksOutput,
	presignedUrlExpiry,
	readGeneration,
	takeInlineFile,
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

	it.each<[string, object]>([
		['no data', {}],
		['empty data', { data: [] }],
		['data that is not an array', { data: { url: 'u' } }],
		['an entry that is null', { data: [null] }],
		['an entry that is a string', { data: ['https://example.com'] }],
		['fields of other types', { status: 3, type: [], model: {}, created: '1', data: [{ url: 5 }] }],
	])('with %s is pending, and the other fields are null', (_, rest) => {
		const { item } = readGeneration({ id: 'x', ...rest }, now) ?? {};
		expect(item).toEqual({ id: 'x', ...ONLY_ID_KNOWN });
		expect(Object.keys(item ?? {})).toEqual(KEYS);
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

	it('may have a number as its ID: what was charged is not lost', () => {
		expect(readGeneration({ id: 7 }, now)?.item.id).toBe('7');
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
});

const noon = Date.UTC(2026, 0, 1, 12);
const created = noon / 1000;

describe('the expiry of a presigned URL', () => {
	it.each([
		[
			'X-Amz-Date and X-Amz-Expires',
			'https://s3.example.com/a.png?X-Amz-Date=20260101T113000Z&X-Amz-Expires=2700&X-Amz-Signature=0',
			'2026-01-01T12:15:00.000Z',
		],
		[
			'the same in lowercase',
			'https://s3.example.com/a.png?x-amz-date=20260101T113000Z&x-amz-expires=3600',
			'2026-01-01T12:30:00.000Z',
		],

		[
			'Expires',
			`https://s3.example.com/a.png?AWSAccessKeyId=x&Expires=${created + 60}&Signature=y`,
			'2026-01-01T12:01:00.000Z',
		],
	])('is read from %s', (_, url, expiry) => {
		expect(presignedUrlExpiry(url, created, noon)).toBe(expiry);
		expect(presignedUrlExpiry(url, null, noon)).toBe(expiry);
	});

	it.each([
		['no query', 'https://s3.example.com/a.png'],
		['a date without a lifetime', 'https://s3.example.com/a.png?X-Amz-Date=20260101T113000Z'],
		['an invalid date', 'https://x.example.com/a?X-Amz-Date=today&X-Amz-Expires=3600'],
		[
			'an invalid lifetime',
			'https://x.example.com/a?X-Amz-Date=20260101T113000Z&X-Amz-Expires=soon',
		],
		['an expiry before the creation', 'https://x.example.com/a?Expires=3600'],
		['not a URL', 'a.png'],
	])('is an hour after the creation if the URL does not state it: %s', (_, url) => {
		expect(presignedUrlExpiry(url, created, noon)).toBe('2026-01-01T13:00:00.000Z');
	});

	it('is unknown if that hour has passed, because the URL may be a fresh one', () => {
		expect(presignedUrlExpiry('https://s3.example.com/a.png', created - 3601, noon)).toBeNull();
		expect(presignedUrlExpiry('https://s3.example.com/a.png', created - 3600, noon)).toBeNull();
	});
});
