import type { ByteStream } from './byte-stream';

/** Large enough that writing costs more than asking for it, small enough for many downloads at once. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Makes a stream iterate in chunks of about 256 kB, and read the next one while the last is used. n8n's filesystem
 * storage iterates, and writes each chunk before it takes another: in the 16 to 64 kB in which a socket delivers,
 * that takes nearly twice as long (`npm run bench -- download`). At most two chunks lie in memory.
 *
 * @returns the same stream: whoever pipes it sees no difference
 */
export function inLargeChunks(stream: ByteStream): ByteStream {
	return Object.defineProperty(stream, Symbol.asyncIterator, { value: () => largeChunks(stream) });
}

async function* largeChunks(stream: ByteStream): AsyncGenerator<Buffer, void, undefined> {
	let parts: Buffer[] = [];
	let bytes = 0;
	// A stream may have broken before anyone came to read it, and says so only once.
	let over = stream.destroyed;
	let failure = stream.errored;
	let wake = () => {};
	const finish = () => {
		over = true;
		wake();
	};
	stream.on('data', (part: Buffer) => {
		parts.push(part);
		bytes += part.length;
		if (bytes >= 2 * CHUNK_BYTES) stream.pause();
		if (bytes >= CHUNK_BYTES) wake();
	});
	stream.once('error', (error) => (failure = error));
	for (const end of ['end', 'error', 'close']) stream.once(end, finish);
	try {
		for (;;) {
			if (bytes < CHUNK_BYTES && !over) await new Promise<void>((resolve) => (wake = resolve));
			if (failure) throw failure;
			if (bytes === 0) break;
			const chunk = Buffer.concat(parts, bytes);
			[parts, bytes] = [[], 0];
			stream.resume();
			yield chunk;
		}
		if (!stream.readableEnded) throw new Error('The stream was closed before its end');
	} finally {
		stream.destroy();
	}
}
