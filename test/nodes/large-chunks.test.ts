import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { inLargeChunks } from '../../nodes/shared/large-chunks';

const SOCKET_BYTES = 64 * 1024;

/** `count` pieces as a socket delivers them; each filled with its number. */
function* pieces(count: number): Generator<Buffer> {
	for (let index = 0; index < count; index++) yield Buffer.alloc(SOCKET_BYTES, index);
}

const socketLike = (source: Iterable<Buffer> | AsyncIterable<Buffer>) =>
	Readable.from(source, { objectMode: false });

async function chunksOf(stream: Readable): Promise<Buffer[]> {
	const chunks: Buffer[] = [];
	for await (const chunk of inLargeChunks(stream)) chunks.push(chunk as Buffer);
	return chunks;
}

describe('large chunks', () => {
	it.each([0, 1, 3, 4, 5, 64, 67])('has every byte of %i pieces, in order', async (count) => {
		const chunks = await chunksOf(socketLike(pieces(count)));
		expect(Buffer.concat(chunks).equals(Buffer.concat([...pieces(count)]))).toBe(true);
	});

	it('joins what a socket delivers', async () => {
		const chunks = await chunksOf(socketLike(pieces(64)));
		expect(chunks.length).toBeLessThanOrEqual(16);
		for (const chunk of chunks.slice(0, -1)) {
			expect(chunk.length).toBeGreaterThanOrEqual(4 * SOCKET_BYTES);
		}
	});

	it('reads no further ahead than two chunks while the last one is used', async () => {
		let made = 0;
		const counted = function* () {
			for (const piece of pieces(200)) {
				made++;
				yield piece;
			}
		};
		const iterator = inLargeChunks(socketLike(counted()))[Symbol.asyncIterator]();
		await iterator.next();
		await new Promise((resolve) => setImmediate(resolve));
		const ahead = made;
		for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
		expect(made).toBe(ahead);
		expect(made).toBeLessThan(20);
		await iterator.return?.();
	});

	it('takes what was put back in front', async () => {
		const stream = socketLike(pieces(5));
		await new Promise((resolve) => stream.once('readable', resolve));
		stream.unshift(Buffer.from('head'));
		const [first] = await chunksOf(stream);
		expect(first.subarray(0, 4).toString()).toBe('head');
	});

	it('throws the error on which the stream ends, and no chunk that is not whole', async () => {
		const failing = async function* () {
			yield Buffer.alloc(SOCKET_BYTES);
			await Promise.resolve();
			throw new Error('reset by peer');
		};
		await expect(chunksOf(socketLike(failing()))).rejects.toThrow('reset by peer');
	});

	it('throws the error on which the stream had ended before anyone read it', async () => {
		const stream = socketLike(pieces(5)).on('error', () => {});
		stream.destroy(new Error('reset by peer'));
		await new Promise((resolve) => stream.once('close', resolve));
		await expect(chunksOf(stream)).rejects.toThrow('reset by peer');
	});

	it('throws where the stream is closed before its end', async () => {
		const stream = new Readable({ read() {} });
		stream.push(Buffer.alloc(SOCKET_BYTES));
		const read = chunksOf(stream);
		setImmediate(() => stream.destroy());
		await expect(read).rejects.toThrow('closed before its end');
	});

	it('closes the stream of a reader that stops early', async () => {
		const stream = socketLike(pieces(64));
		for await (const chunk of inLargeChunks(stream)) {
			expect(chunk).toBeDefined();
			break;
		}
		expect(stream.destroyed).toBe(true);
	});

	it('leaves the stream as it is for whoever reads it otherwise', async () => {
		const piped = inLargeChunks(socketLike(pieces(5))).pipe(new PassThrough());
		expect((await buffer(piped)).length).toBe(5 * SOCKET_BYTES);
	});
});
