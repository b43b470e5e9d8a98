import { crc32 } from 'node:zlib';
import { hashOf, seededRandom } from '../basics/random';
import type { Segment } from './file';

const blockBytes = 1024 * 1024;
const chunkOverhead = 12;
const iendBytes = 12;

let block: Buffer | undefined;

/** Returns a mebibyte of noise. Zeros could be compressed, which would distort measurements. */
function noiseBlock(): Buffer {
	if (!block) {
		const random = seededRandom(hashOf('padding'));
		block = Buffer.alloc(blockBytes);
		for (let at = 0; at < blockBytes; at += 4) block.writeUInt32LE(random() * 2 ** 32, at);
	}
	return block;
}

/** Returns a PNG chunk that every reader ignores: ancillary, private, safe to copy. */
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
 * Pads a PNG to `bytes` with chunks before its end. All full chunks are identical, so their checksum is computed only
 * once. A PNG that is already large enough is not changed.
 */
export function padPng(png: Buffer, bytes: number): Segment[] {
	const missing = bytes - png.length;
	if (missing < chunkOverhead) return [{ kind: 'bytes', bytes: png }];
	fullChunk ??= pngChunk(noiseBlock());
	const fullBytes = fullChunk.length;
	let rest = missing % fullBytes;
	// If the rest is too short for its own chunk, merge it with a full one.
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

/** Pads an MP4 to `bytes` with a `free` box at its end. One that is already large enough is not changed. */
export function padMp4(mp4: Buffer, bytes: number): Segment[] {
	const missing = bytes - mp4.length;
	if (missing < 16) return [{ kind: 'bytes', bytes: mp4 }];
	const head = Buffer.alloc(8);
	head.writeUInt32BE(missing, 0);
	head.write('free', 4, 'latin1');
	return [
		{ kind: 'bytes', bytes: Buffer.concat([mp4, head]) },
		{ kind: 'repeat', block: noiseBlock(), length: missing - head.length },
	];
}
