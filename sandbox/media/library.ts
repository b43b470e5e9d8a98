import { availableParallelism } from 'node:os';
import type { Output } from '../generations/generations';
import { fileOf } from './file';
import type { MediaFile } from './file';
import { padMp4, padPng } from './padding';
import { drawScene } from './scene';
import { takeTurns } from './turns';
import { encodeVideo } from './video';

/** Size of the cache of finished files, in bytes. */
const cacheBytes = 128 * 1024 * 1024;

/** Maximum files created at the same time: one per core, because the video encoder uses a single thread. */
const atOnce = availableParallelism();

function cacheKey(output: Output): string {
	return JSON.stringify({ ...output, bytes: null });
}

async function render(output: Output, signal: AbortSignal): Promise<Buffer> {
	signal.throwIfAborted();
	if (output.type === 'video') return await encodeVideo(output, signal);
	return await (await drawScene(output)).canvas.encode('png');
}

/**
 * Creates outputs when they are first requested, and caches the latest ones. Concurrent requests for the same output
 * create it only once.
 */
export class MediaLibrary {
	private readonly files = new Map<string, Promise<Buffer>>();
	private readonly turn = takeTurns(atOnce);
	private readonly closing = new AbortController();
	private bytes = 0;

	/** Returns the file of an output. Rejects if the encoder fails. */
	async open(output: Output): Promise<MediaFile> {
		const base = await this.base(output);
		if (output.type === 'image') {
			return fileOf('image/png', padPng(base, output.bytes ?? 0));
		}
		return fileOf('video/mp4', padMp4(base, output.bytes ?? 0));
	}

	/** Returns the first byte for a probe (spec 4.3). The format determines it, so the file is not created. */
	glimpse(output: Output): MediaFile {
		const [contentType, byte] =
			output.type === 'image' ? (['image/png', 0x89] as const) : (['video/mp4', 0x00] as const);
		return fileOf(contentType, [{ kind: 'bytes', bytes: Buffer.of(byte) }]);
	}

	/** Stops the encoders and waits until they have ended. */
	async close(): Promise<void> {
		this.closing.abort();
		await Promise.allSettled(this.files.values());
	}

	private base(output: Output): Promise<Buffer> {
		const key = cacheKey(output);
		const known = this.files.get(key);
		if (known) {
			// Move it to the end, so that the first entry in the map is the least recently used.
			this.files.delete(key);
			this.files.set(key, known);
			return known;
		}
		const made = this.turn(() => render(output, this.closing.signal));
		this.files.set(key, made);
		made.then(
			(file) => this.keep(file.length),
			() => this.files.delete(key),
		);
		return made;
	}

	private keep(length: number): void {
		this.bytes += length;
		const [oldest] = this.files;
		if (this.bytes <= cacheBytes || !oldest) return;
		this.files.delete(oldest[0]);
		oldest[1].then(
			(file) => (this.bytes -= file.length),
			() => undefined,
		);
	}
}
