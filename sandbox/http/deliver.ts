import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { realTime } from '../basics/clock';
import type { RequestRecord } from '../books/requests';
import type { Pace, Reply } from '../requests/reply';

/** Ends a connection the hard way: the client sees a reset, not an end. */
function resetConnection(response: Response): void {
	response.socket?.resetAndDestroy();
}

/** The bytes of a body: a text as it is, nothing for undefined, otherwise JSON. */
function bodyBytes(body: unknown): Buffer {
	if (body === undefined) return Buffer.alloc(0);
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Waits out a reply's delay. False where the client left meanwhile. */
export async function waitForTurn(response: Response, delayMs: number): Promise<boolean> {
	if (delayMs > 0) {
		const left = new AbortController();
		const leave = (): void => left.abort();
		response.once('close', leave);
		await realTime.sleep(delayMs, left.signal);
		response.off('close', leave);
	}
	return !response.destroyed && !(response.socket?.destroyed ?? true);
}

async function* atPace(chunks: Iterable<Buffer>, { bytes, everyMs }: Pace) {
	for (const chunk of chunks) {
		for (let start = 0; start < chunk.length; start += bytes) {
			yield chunk.subarray(start, start + bytes);
			await realTime.sleep(everyMs);
		}
	}
}

async function* counted(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, record?: RequestRecord) {
	for await (const chunk of chunks) {
		yield chunk;
		if (record) record.bytes += chunk.length;
	}
}

/**
 * Writes a body piece by piece, as slowly as is asked, and leaves the answer open at its end. Rejects where the client
 * leaves.
 */
export async function writeBody(
	response: Response,
	chunks: Iterable<Buffer>,
	{ pace, record }: Pick<Reply, 'pace' | 'record'>,
): Promise<void> {
	const body = counted(pace ? atPace(chunks, pace) : chunks, record);
	await pipeline(Readable.from(body, { objectMode: false }), response, { end: false });
}

function* forEver(bytes: Buffer): Generator<Buffer> {
	for (;;) yield bytes;
}

/** Sends a reply, or resets the connection, or leaves it hanging, as the reply says. */
export async function deliver(response: Response, what: Reply): Promise<void> {
	if (what.delivery === 'reset') return resetConnection(response);
	if (what.delivery === 'hang') return;
	if (!(await waitForTurn(response, what.delayMs))) {
		if (what.record) Object.assign(what.record, { answered: false, status: null });
		return;
	}
	const bytes = bodyBytes(what.body);
	// Without Express's own additions: the headers are exactly those ordered.
	const length = what.endless ? {} : { 'content-length': bytes.length };
	response.writeHead(what.status, { ...what.headers, ...length });
	if (!what.pace && !what.endless) {
		if (what.record) what.record.bytes = bytes.length;
		response.end(bytes);
		return;
	}
	response.flushHeaders();
	try {
		await writeBody(response, what.endless ? forEver(bytes) : [bytes], what);
		response.end();
	} catch {
		// The client left in the middle: its own affair, but no whole answer.
		if (what.record) what.record.answered = false;
		response.destroy();
	}
}
