import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { realTime } from '../basics/clock';
import type { RequestRecord } from '../books/requests';
import type { Pace, Reply } from '../requests/reply';

/** Resets a connection instead of closing it normally. */
function resetConnection(response: Response): void {
	response.req.socket.resetAndDestroy();
}

/** Returns a body as bytes: a text unchanged, undefined as an empty body, anything else as JSON. */
function bodyBytes(body: unknown): Buffer {
	if (body === undefined) return Buffer.alloc(0);
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Waits for a reply's delay. Returns false if the client disconnects before its end. */
export async function waitForTurn(response: Response, delayMs: number): Promise<boolean> {
	if (delayMs > 0) {
		const left = new AbortController();
		const leave = (): void => left.abort();
		response.once('close', leave);
		await realTime.sleep(delayMs, left.signal);
		response.off('close', leave);
	}
	return !response.destroyed && !response.req.socket.destroyed;
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
 * Writes a body in chunks at the given pace, and does not end the response. Rejects if the client disconnects.
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

/** Sends a reply, resets the connection or leaves it hanging, depending on the reply's `delivery`. */
export async function deliver(response: Response, what: Reply): Promise<void> {
	if (what.delivery === 'reset') return resetConnection(response);
	if (what.delivery === 'hang') return;
	if (!(await waitForTurn(response, what.delayMs))) {
		if (what.record) Object.assign(what.record, { answered: false, status: null });
		return;
	}
	const bytes = bodyBytes(what.body);
	// Repeating nothing, as in response to HEAD, would never wait for the client.
	const endless = what.endless === true && bytes.length > 0 && response.req.method !== 'HEAD';
	// Bypasses Express, which would add headers of its own.
	const length = endless ? {} : { 'content-length': bytes.length };
	response.writeHead(what.status, { ...what.headers, ...length });
	if (!what.pace && !endless) {
		if (what.record) what.record.bytes = bytes.length;
		response.end(bytes);
		return;
	}
	response.flushHeaders();
	try {
		await writeBody(response, endless ? forEver(bytes) : [bytes], what);
		response.end();
	} catch {
		// The client disconnected early. That is not an error, but the response is incomplete.
		if (what.record) what.record.answered = false;
		response.destroy();
	}
}
