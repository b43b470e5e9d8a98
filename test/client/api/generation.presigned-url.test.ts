import fc from 'fast-check';

import { presignedUrlExpiry } from '../../../client/api/generation';

const now = Date.UTC(2026, 0, 1, 12);
const created = now / 1000;

describe('the expiry of a presigned URL', () => {
	it.each([
		[
			'X-Amz-Date and X-Amz-Expires',
			'https://s3.example.com/a.png?X-Amz-Date=20260101T113000Z&X-Amz-Expires=1800&X-Amz-Signature=0',
			'2026-01-01T12:00:00.000Z',
		],
		[
			'the same in lowercase',
			'https://s3.example.com/a.png?x-amz-date=20260101T113000Z&x-amz-expires=3600',
			'2026-01-01T12:30:00.000Z',
		],
		[
			'X-Goog-Date and X-Goog-Expires',
			'https://gcs.example.com/a.png?X-Goog-Date=20260228T235959Z&X-Goog-Expires=1',
			'2026-03-01T00:00:00.000Z',
		],
		[
			'Expires',
			`https://s3.example.com/a.png?AWSAccessKeyId=x&Expires=${created + 60}&Signature=y`,
			'2026-01-01T12:01:00.000Z',
		],
		[
			'the se of Azure',
			'https://x.blob.core.windows.net/a.png?sv=2024-11-04&se=2026-01-01T12%3A02%3A00Z&sig=y',
			'2026-01-01T12:02:00.000Z',
		],
	])('is read from %s', (_, url, expiry) => {
		expect(presignedUrlExpiry(url, created, now)).toBe(expiry);
		expect(presignedUrlExpiry(url, null, now)).toBe(expiry);
	});

	it.each([
		['no query', 'https://s3.example.com/a.png'],
		['a date without a lifetime', 'https://s3.example.com/a.png?X-Amz-Date=20260101T113000Z'],
		['a lifetime without a date', 'https://s3.example.com/a.png?X-Amz-Expires=3600'],
		['an invalid date', 'https://x.example.com/a?X-Amz-Date=today&X-Amz-Expires=3600'],
		[
			'an invalid lifetime',
			'https://x.example.com/a?X-Amz-Date=20260101T113000Z&X-Amz-Expires=soon',
		],
		['an empty expiry', 'https://x.example.com/a?Expires='],
		['an se that is no date', 'https://x.example.com/a?se=1'],
		['an invalid expiry', 'https://x.example.com/a?Expires=soon'],
		['an expiry before the creation', 'https://x.example.com/a?Expires=3600'],
		['an expiry too far in the future', 'https://x.example.com/a?Expires=99999999999999'],
		[
			'a lifetime that is too long',
			'https://x.example.com/a?X-Amz-Date=20260101T113000Z&X-Amz-Expires=1e15',
		],
		['not a URL', 'a.png'],
	])('is an hour after the creation if the URL does not state it: %s', (_, url) => {
		expect(presignedUrlExpiry(url, created, now)).toBe('2026-01-01T13:00:00.000Z');
	});

	it('is unknown if that hour has passed, because the URL may be a fresh one', () => {
		expect(presignedUrlExpiry('https://s3.example.com/a.png', created - 3601, now)).toBeNull();
		expect(presignedUrlExpiry('https://s3.example.com/a.png', created - 3600, now)).toBeNull();
	});

	it('is unknown without a usable creation time', () => {
		expect(presignedUrlExpiry('https://s3.example.com/a.png', null, now)).toBeNull();
		expect(presignedUrlExpiry('https://s3.example.com/a.png', 1e15, now)).toBeNull();
	});

	it('is a time or null for any URL', () => {
		const names = fc.constantFrom('X-Amz-Date', 'X-Amz-Expires', 'Expires', 'x-goog-date');
		const values = fc.oneof(
			fc.string(),
			fc.integer().map(String),
			fc.double().map(String),
			fc.constantFrom('99999999T999999Z', '20260101T113000Z', '1e300'),
		);
		const queries = fc
			.array(fc.tuple(names, values), { maxLength: 5 })
			.map((pairs) => `https://s3.example.com/a.png?${new URLSearchParams(pairs).toString()}`);
		fc.assert(
			fc.property(fc.oneof(queries, fc.string()), fc.option(fc.double()), (url, born) => {
				const expiry = presignedUrlExpiry(url, born, now);
				if (expiry !== null) expect(new Date(expiry).toISOString()).toBe(expiry);
			}),
		);
	});
});
