import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A stand-in for another service, limited to what tests need. */
export interface StandIn {
	/** Address without a trailing slash. */
	url: string;
	close(): Promise<void>;
}

async function asRequest(incoming: IncomingMessage): Promise<Request> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	const { method = 'GET', url = '/', headers } = incoming;
	return new Request(new URL(url, 'http://stand-in.invalid'), {
		method,
		headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
		body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
	});
}

/** Listens on a free port. If `answer` throws, the response is a 500. */
export async function openStandIn(
	answer: (request: Request) => Response | Promise<Response>,
): Promise<StandIn> {
	const respond = async (incoming: IncomingMessage): Promise<Response> => {
		try {
			return await answer(await asRequest(incoming));
		} catch (error) {
			return new Response(String(error), { status: 500 });
		}
	};
	const server = createServer((incoming, outgoing) => {
		void respond(incoming).then(async (response) => {
			outgoing.writeHead(response.status, Object.fromEntries(response.headers));
			outgoing.end(Buffer.from(await response.arrayBuffer()));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
