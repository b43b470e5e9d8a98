import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Reply } from '../requests/reply';

/** Ends a connection the hard way: the client sees a reset, not an end. */
export function resetConnection(reply: FastifyReply): void {
	reply.hijack();
	reply.raw.socket?.resetAndDestroy();
}

/** The bytes of a body: a text as it is, nothing for undefined, otherwise JSON. */
export function bodyBytes(body: unknown): Buffer {
	if (body === undefined) return Buffer.alloc(0);
	return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Waits out a reply's delay. False where the client left meanwhile. */
export async function waitForTurn(reply: FastifyReply, delayMs: number): Promise<boolean> {
	if (delayMs > 0) {
		const left = new AbortController();
		const leave = (): void => left.abort();
		reply.raw.once('close', leave);
		await sleep(delayMs, undefined, { signal: left.signal }).catch(() => undefined);
		reply.raw.off('close', leave);
	}
	return !reply.raw.destroyed && !(reply.raw.socket?.destroyed ?? true);
}

/** Sends a reply, or resets the connection, or leaves it hanging, as the reply says. */
export async function deliver(reply: FastifyReply, what: Reply): Promise<void> {
	if (what.delivery === 'reset') return resetConnection(reply);
	if (what.delivery === 'hang') {
		reply.hijack();
		return;
	}
	if (!(await waitForTurn(reply, what.delayMs))) {
		if (what.record) Object.assign(what.record, { answered: false, status: null });
		reply.hijack();
		return;
	}
	const bytes = bodyBytes(what.body);
	// Written without Fastify's own additions: the headers are exactly those ordered.
	reply.hijack();
	reply.raw.writeHead(what.status, { ...what.headers, 'content-length': bytes.length });
	reply.raw.end(bytes);
}
