/** A presigned URL lives one hour from its issue (spec 8). */
const LIFETIME_SECONDS = 3600;
/** No URL has ended before there was any. */
const EARLIEST_END = Date.UTC(2000, 0);

/**
 * When a presigned URL expires. Object stores write it into the URL; where this one does not, the spec's hour from
 * the generation's creation is a safe lower bound, for no URL is issued earlier.
 *
 * @param created Unix seconds at which the generation was accepted, if known
 * @param now milliseconds since the Unix epoch
 * @returns ISO 8601 UTC, or `null` where it cannot be known
 */
export function presignedUrlExpiry(
	url: string,
	created: number | null,
	now: number,
): string | null {
	const end = statedExpiry(url);
	// Some write a lifetime where others write the end.
	const stated = end !== null && end < EARLIEST_END ? null : isoTime(end);
	if (stated !== null || created === null) return stated;
	const bound = (created + LIFETIME_SECONDS) * 1000;
	return bound > now ? isoTime(bound) : null;
}

/** `null` also for what is beyond all dates, so that a strange URL never costs its generation. */
function isoTime(ms: number | null): string | null {
	const date = new Date(ms ?? NaN);
	return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Milliseconds since the Unix epoch: from the signature's date and lifetime (S3, GCS), or its plain end. */
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

/** `20261120T143000Z`, as signatures write it, in milliseconds since the Unix epoch. */
function basicIsoDate(text: string | undefined): number | null {
	const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '');
	if (!parts) return null;
	const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
	return Date.UTC(year, month - 1, day, hour, minute, second);
}
