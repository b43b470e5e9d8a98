import type { IExecuteFunctions } from 'n8n-workflow';

import { deadline } from '../../client/basics/deadline';
import { SNIFF_BYTES } from '../../client/wire/media-type';
import { requestClock } from './clock';

/** A body that is read as it comes in, as n8n's storage takes it. */
export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Uint8Array
>;

/** Fewer bytes than these in a window are hardly any headway: about 1 kB/s. */
const LEAST_BYTES = 64 * 1024;

/**
 * The first bytes of a stream, which stay in it to be read once more.
 *
 * @returns `SNIFF_BYTES` or more, fewer only where that was all: then the stream has ended
 * @throws what broke the stream
 */
export async function peek(stream: ByteStream): Promise<Buffer> {
	let head = Buffer.alloc(0);
	let wake = () => {};
	const events = ['readable', 'end', 'close', 'error'];
	const listener = () => wake();
	for (const event of events) stream.on(event, listener);
	try {
		while (head.length < SNIFF_BYTES) {
			const chunk = stream.read() as Buffer | null;
			if (chunk) head = Buffer.concat([head, chunk]);
			else if (stream.readableEnded) return head;
			else if (stream.destroyed) throw stream.errored ?? new Error('The stream broke off');
			else await new Promise<void>((resolve) => (wake = resolve));
		}
	} finally {
		for (const event of events) stream.off(event, listener);
	}
	stream.unshift(head);
	return head;
}

/**
 * Calls `giveUp` once hardly any bytes have come in for so long, up to the last. They are counted where they come in,
 * since it is n8n's storage that reads them, and that may take its time with them afterwards.
 *
 * @param ended ends the watching
 */
export async function watchHeadway(
	stream: ByteStream,
	windowMs: number,
	ended: AbortSignal,
	giveUp: () => void,
): Promise<void> {
	let bytes = 0;
	let isWhole = false;
	const push = stream.push.bind(stream);
	stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
		bytes += chunk?.length ?? 0;
		isWhole ||= chunk === null;
		return push(chunk, encoding);
	};
	for (;;) {
		const before = bytes;
		await deadline(requestClock, windowMs, ended);
		if (ended.aborted || isWhole) return;
		if (bytes - before < LEAST_BYTES) return giveUp();
	}
}
