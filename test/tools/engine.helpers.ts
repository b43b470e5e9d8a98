import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IDataObject, ILoadOptionsFunctions, INodeType } from 'n8n-workflow';
import { bareNode } from '../../tools/engine/bare-node';

export interface TestServer {
	url: string;
	requests: IncomingMessage[];
	close: () => Promise<void>;
}

/** The credential that the nodes of these tests have. */
export const credentialType = 'mediaGenerationApi';

/** Answers with a balance and the request's Authorization, 401 for a wrong key, and `/bytes` with bytes. */
export async function startServer(): Promise<TestServer> {
	const requests: IncomingMessage[] = [];
	const server = createServer((request, response) => {
		requests.push(request);
		if (request.url === '/bytes') return response.end(Buffer.alloc(100_000, 7));
		const { authorization } = request.headers;
		if (authorization !== 'Bearer secret') response.statusCode = 401;
		response.setHeader('content-type', 'application/json');
		return response.end(JSON.stringify({ object: 'credit_balance', balance: 1, authorization }));
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	const { port } = server.address() as AddressInfo;
	const close = async () => {
		server.closeAllConnections();
		await new Promise((done) => server.close(done));
	};
	return { url: `http://127.0.0.1:${port}`, requests, close };
}

export const credentials = (baseUrl: string) => ({
	[credentialType]: { baseUrl, apiKey: 'secret' },
});

async function search(this: ILoadOptionsFunctions, filter?: string) {
	const { baseUrl } = await this.getCredentials(credentialType);
	const answer = (await this.helpers.httpRequestWithAuthentication.call(this, credentialType, {
		url: `${String(baseUrl)}/echo`,
		json: true,
	})) as IDataObject;
	return { results: [{ name: `${filter} ${String(answer.authorization)}`, value: `${filter}` }] };
}

/** A node with one input, one output and that credential. */
export function node(name: string, parts: Partial<INodeType>): INodeType {
	return bareNode(name, {
		methods: { listSearch: { search } },
		...parts,
		description: {
			usableAsTool: true,
			credentials: [{ name: credentialType, required: true }],
			properties: [
				{ displayName: 'Needed', name: 'needed', type: 'string', default: 'x', required: true },
			],
		},
	});
}
