import { connect } from 'node:net';

/** A response as it was sent over the connection. */
interface RawResponse {
	status: number;
	headers: string;
	body: string;
}

/**
 * Splits the bytes of a connection into its whole responses, and the rest that is not one yet. The sandbox sends a
 * Content-Length with each of them.
 */
function responsesIn(text: string): { responses: RawResponse[]; rest: string } {
	const responses: RawResponse[] = [];
	let rest = text;
	for (;;) {
		const end = rest.indexOf('\r\n\r\n');
		const headers = rest.slice(0, Math.max(end, 0)).toLowerCase();
		const status = Number(/^http\/1\.1 (\d{3})/.exec(headers)?.[1]);
		const length = Number(/\ncontent-length: (\d+)/.exec(headers)?.[1] ?? 0);
		const start = end + 4;
		if (end < 0 || rest.length < start + length) return { responses, rest };
		responses.push({ status, headers, body: rest.slice(start, start + length) });
		rest = rest.slice(start + length);
	}
}

/**
 * Writes bytes to a new connection, as no HTTP client would. Returns the responses once there are `count`, or once the
 * server has closed the connection.
 *
 * @throws Error if the connection ends in the middle of a response
 */
export async function sendRaw(
	url: string,
	bytes: string,
	count = Infinity,
): Promise<RawResponse[]> {
	const { hostname, port } = new URL(url);
	const socket = connect(Number(port), hostname);
	socket.write(Buffer.from(bytes, 'latin1'));
	let text = '';
	for await (const chunk of socket as AsyncIterable<Buffer>) {
		text += chunk.toString('latin1');
		const { responses } = responsesIn(text);
		if (responses.length >= count) return responses;
	}
	const { responses, rest } = responsesIn(text);
	if (rest !== '') throw new Error(`Not a response: ${rest.slice(0, 100)}`);
	return responses;
}

/** Returns the bytes of a request with a key. */
export function rawRequest(
	method: string,
	target: string,
	key: string,
	{ body = '', headers = [] as string[] } = {},
): string {
	const length = body === '' && method === 'GET' ? [] : [`Content-Length: ${body.length}`];
	const lines = [`Host: 127.0.0.1`, `Authorization: Bearer ${key}`, ...length, ...headers];
	return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
