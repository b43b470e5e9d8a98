/** Bytes from `start` up to but not including `end`. */
interface ByteRange {
	start: number;
	end: number;
}

/**
 * Returns the bytes that a Range header requests from a file of that size. Returns null without a header, or for one
 * that a server may ignore: several ranges, another unit, or a malformed range.
 */
export function requestedRange(
	header: string | undefined,
	size: number,
): ByteRange | 'unsatisfiable' | null {
	const found = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
	if (!found || (found[1] === '' && found[2] === '')) return null;
	if (found[1] === '') {
		const last = Number(found[2]);
		return last === 0 ? 'unsatisfiable' : { start: Math.max(0, size - last), end: size };
	}
	const start = Number(found[1]);
	const end = found[2] === '' ? size : Math.min(size, Number(found[2]) + 1);
	if (start >= size) return 'unsatisfiable';
	return end <= start ? null : { start, end };
}
