import type { IExecuteFunctions } from 'n8n-workflow';

import { deadline } from '../../../client/async';
import { SNIFF_BYTES } from './media-type';
import { requestClock } from './clock';

/** A response body as a stream, in the type that n8n's storage accepts. */
export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Uint8Array
>;

/** A download that receives fewer bytes than this in a window of 60 s counts as stalled: about 1 kB/s. */
const LEAST_BYTES = 64 * 1024;

/**
 * Reads at least the first `SNIFF_BYTES` bytes of a stream, and puts these back, so that they can be read again. If the
 * stream is shorter, returns its whole content, and puts nothing back.
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

/** Counts the bytes of a body as they arrive, and not as n8n stores them: a slow storage must not count as a stall. */
export function countArrived(stream: ByteStream) {
	const arrived = {
		// A small body may have arrived with the headers: the `push` that is replaced below does not see these bytes.
		bytes: stream.readableLength,
		isWhole: stream.readableEnded || ('complete' in stream && stream.complete === true),
	};
	const push = stream.push.bind(stream);
	stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
		arrived.bytes += chunk?.length ?? 0;
		arrived.isWhole ||= chunk === null;
		return push(chunk, encoding);
	};
	return arrived;
}

/** Returns true once the last byte has arrived or `ended` aborts, false once a window brings fewer than `LEAST_BYTES`. */
export async function keepsArriving(
	arrived: ReturnType<typeof countArrived>,
	windowMs: number,
	ended: AbortSignal,
): Promise<boolean> {
	for (;;) {
		const before = arrived.bytes;
		await deadline(requestClock, windowMs, ended);
		if (ended.aborted || arrived.isWhole) return true;
		if (arrived.bytes - before < LEAST_BYTES) return false;
	}
}
