import { crc32 } from 'node:zlib';
import { hashOf, seededRandom } from '../basics/random';
import type { Segment } from './file';

const blockBytes = 1024 * 1024;
const chunkOverhead = 12;
const iendBytes = 12;

let block: Buffer | undefined;

/** A mebibyte of noise: zeros would let a compressing storage look better than it is. */
function noiseBlock(): Buffer {
	if (!block) {
		const random = seededRandom(hashOf('padding'));
		block = Buffer.alloc(blockBytes);
		for (let at = 0; at < blockBytes; at += 4) block.writeUInt32LE(random() * 2 ** 32, at);
	}
	return block;
}

/** A PNG chunk that every reader passes over: ancillary, private, safe to copy. */
function pngChunk(data: Buffer): Buffer {
	const chunk = Buffer.alloc(data.length + chunkOverhead);
	chunk.writeUInt32BE(data.length, 0);
	chunk.write('paDd', 4, 'latin1');
	data.copy(chunk, 8);
	chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
	return chunk;
}

let fullChunk: Buffer | undefined;

/**
 * A PNG brought to `bytes` by chunks before its end. The full chunks are all the same, so their
 * checksum is worked out once. A PNG that is already as large stays as it is.
 */
export function padPng(png: Buffer, bytes: number): Segment[] {
	const missing = bytes - png.length;
	if (missing < chunkOverhead) return [{ kind: 'bytes', bytes: png }];
	fullChunk ??= pngChunk(noiseBlock());
	const fullBytes = fullChunk.length;
	let rest = missing % fullBytes;
	// A rest too short for a chunk of its own is joined with one of the full ones.
	if (rest > 0 && rest < chunkOverhead) rest += fullBytes;
	const end = png.length - iendBytes;
	const noise = Buffer.concat([noiseBlock(), noiseBlock().subarray(0, 64)]);
	const last = rest > 0 ? pngChunk(noise.subarray(0, rest - chunkOverhead)) : Buffer.alloc(0);
	return [
		{ kind: 'bytes', bytes: png.subarray(0, end) },
		{ kind: 'repeat', block: fullChunk, length: missing - rest },
		{ kind: 'bytes', bytes: Buffer.concat([last, png.subarray(end)]) },
	];
}

/** The head of a `free` box of that size, with the long form above 4 GiB. */
function freeBoxHead(boxBytes: number): Buffer {
	const long = boxBytes > 0xffffffff;
	const head = Buffer.alloc(long ? 16 : 8);
	head.writeUInt32BE(long ? 1 : boxBytes, 0);
	head.write('free', 4, 'latin1');
	if (long) head.writeBigUInt64BE(BigInt(boxBytes), 8);
	return head;
}

/** An MP4 brought to `bytes` by a `free` box at its end; one already as large stays as it is. */
export function padMp4(mp4: Buffer, bytes: number): Segment[] {
	const missing = bytes - mp4.length;
	if (missing < 16) return [{ kind: 'bytes', bytes: mp4 }];
	const head = freeBoxHead(missing);
	return [
		{ kind: 'bytes', bytes: Buffer.concat([mp4, head]) },
		{ kind: 'repeat', block: noiseBlock(), length: missing - head.length },
	];
}
