/** A part of a file: bytes in memory, or one block repeated up to a length. */
export type Segment =
	| { readonly kind: 'bytes'; readonly bytes: Buffer }
	| { readonly kind: 'repeat'; readonly block: Buffer; readonly length: number };

/** A finished output. Padded files are never completely in memory. */
export interface MediaFile {
	readonly contentType: 'image/png' | 'video/mp4';
	/** Size in bytes. */
	readonly size: number;
	readonly segments: readonly Segment[];
}

function lengthOf(segment: Segment): number {
	return segment.kind === 'bytes' ? segment.bytes.length : segment.length;
}

/** Returns a file that consists of the segments. */
export function fileOf(
	contentType: MediaFile['contentType'],
	segments: readonly Segment[],
): MediaFile {
	const size = segments.reduce((sum, segment) => sum + lengthOf(segment), 0);
	return { contentType, size, segments };
}

function* segmentBytes(segment: Segment, start: number, end: number): Generator<Buffer> {
	if (segment.kind === 'bytes') {
		yield segment.bytes.subarray(start, end);
		return;
	}
	const { block } = segment;
	let position = start;
	while (position < end) {
		const from = position % block.length;
		const chunk = block.subarray(from, Math.min(block.length, from + end - position));
		yield chunk;
		position += chunk.length;
	}
}

/** Yields the bytes from `start` up to but not including `end`, in chunks. */
export function* readFile(file: MediaFile, start: number, end: number): Generator<Buffer> {
	let offset = 0;
	for (const segment of file.segments) {
		const length = lengthOf(segment);
		const from = Math.max(0, start - offset);
		const to = Math.min(length, end - offset);
		if (from < to) yield* segmentBytes(segment, from, to);
		offset += length;
	}
}
