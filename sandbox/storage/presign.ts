import { createHmac, timingSafeEqual } from 'node:crypto';

type QueryValues = Readonly<Record<string, string | undefined>>;

/** The problem with a presigned URL, or null if it is valid. */
export type PresignFault = 'unsigned' | 'tampered' | 'expired' | null;

const scope = 'us-east-1/s3/aws4_request';

/** Formats a time in milliseconds as `20260102T030405Z`. */
function amzDate(time: number): string {
	return new Date(time).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

function timeOfAmzDate(text: string): number {
	return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'));
}

/**
 * Issues presigned URLs like object storage does, with the date, the lifetime and a signature in the query. Only the
 * format is that of S3. The signature covers the path and the query.
 */
export class Presigner {
	constructor(private readonly secret: string) {}

	private signatureOf(path: string, query: QueryValues): string {
		const signed = Object.entries(query)
			.filter(([name, value]) => name !== 'X-Amz-Signature' && value !== undefined)
			.map(([name, value]) => `${name}=${value}`)
			.sort()
			.join('&');
		return createHmac('sha256', this.secret).update(`GET\n${path}\n${signed}`).digest('hex');
	}

	/**
	 * Returns a URL for `path` at `origin` that is valid from `now` (milliseconds) for a number of whole seconds, and
	 * its expiration time. As in S3, the date is truncated to the second, so up to a second of the lifetime is lost.
	 */
	sign(
		origin: string,
		path: string,
		now: number,
		lifetimeSeconds: number,
	): { url: string; expiresAt: number } {
		const date = amzDate(now);
		const query = {
			'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
			'X-Amz-Credential': `SANDBOX/${date.slice(0, 8)}/${scope}`,
			'X-Amz-Date': date,
			'X-Amz-Expires': String(lifetimeSeconds),
			'X-Amz-SignedHeaders': 'host',
		};
		const signature = this.signatureOf(path, query);
		const search = new URLSearchParams({ ...query, 'X-Amz-Signature': signature });
		return {
			url: `${origin}${path}?${search.toString()}`,
			expiresAt: Math.floor(now / 1000) * 1000 + lifetimeSeconds * 1000,
		};
	}

	/** Checks that the path and query were signed here and are still valid at `now` (milliseconds). */
	check(path: string, query: QueryValues, now: number): PresignFault {
		const given = query['X-Amz-Signature'];
		const date = query['X-Amz-Date'];
		const lifetime = query['X-Amz-Expires'];
		if (!given || !date || !lifetime) return 'unsigned';
		const expected = Buffer.from(this.signatureOf(path, query));
		const received = Buffer.from(given);
		if (expected.length !== received.length || !timingSafeEqual(expected, received)) {
			return 'tampered';
		}
		return now >= timeOfAmzDate(date) + Number(lifetime) * 1000 ? 'expired' : null;
	}
}
