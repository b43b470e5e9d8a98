/** A presigned URL is valid for one hour after it is issued (spec 8). */
const LIFETIME_SECONDS = 3600;
/** An earlier expiry is not a date but a lifetime. */
const EARLIEST_END = Date.UTC(2000, 0);

/**
 * Returns when a presigned URL expires. Object stores state this in the URL. Otherwise the hour of the spec counts
 * from the generation's creation. This is a safe lower bound, because no URL is issued earlier.
 *
 * @param created Unix seconds at which the generation was accepted, if known
 * @param now milliseconds since the Unix epoch
 * @returns ISO 8601 UTC; `null` if unknown
 */
export function presignedUrlExpiry(
	url: string,
	created: number | null,
	now: number,
): string | null {
	const end = statedExpiry(url);
	// Some stores write a lifetime into the parameter that others use for the expiry.
	const stated = end !== null && end < EARLIEST_END ? null : isoTime(end);
	if (stated !== null || created === null) return stated;
	const bound = (created + LIFETIME_SECONDS) * 1000;
	return bound > now ? isoTime(bound) : null;
}

/** Also `null` for a value outside of the range of dates: a strange URL must not fail its generation. */
function isoTime(ms: number | null): string | null {
	const date = new Date(ms ?? NaN);
	return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Milliseconds since the Unix epoch, from the date and lifetime of the signature (S3, GCS) or a plain expiry. */
function statedExpiry(url: string): number | null {
	const query = queryOf(url);
	for (const vendor of ['x-amz', 'x-goog']) {
		const issued = basicIsoDate(query.get(`${vendor}-date`));
		const lifetime = Number(query.get(`${vendor}-expires`) ?? NaN);
		if (issued !== null && Number.isFinite(lifetime)) return issued + lifetime * 1000;
	}
	const end = Number(query.get('expires') || NaN);
	return Number.isFinite(end) ? end * 1000 : null;
}

function queryOf(url: string): Map<string, string> {
	try {
		return new Map(
			[...new URL(url).searchParams].map(([name, value]) => [name.toLowerCase(), value]),
		);
	} catch {
		return new Map();
	}
}

/** Converts `20261120T143000Z`, the format of signatures, to milliseconds since the Unix epoch. */
function basicIsoDate(text: string | undefined): number | null {
	const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '');
	if (!parts) return null;
	const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
	return Date.UTC(year, month - 1, day, hour, minute, second);
}
