import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { FastifyInstance } from 'fastify';
import type { ApiKey } from '../accounts/accounts';
import { authenticate } from '../accounts/authentication';
import { errorAnswer, ServiceError } from '../basics/errors';
import { McpConnection } from '../mcp/connection';
import { createMcpServer } from '../mcp/server';
import type { GenerationService, ServiceRequest } from '../service';
import type { LogLine } from './log';
import { serviceRequest } from './request';

interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string;
	happened: string;
}

const json = { 'content-type': 'application/json' };

/** The key of a request, or why there is none. */
function keyOf(service: GenerationService, authorization?: string): ApiKey | ServiceError {
	try {
		return authenticate(service.accounts, authorization);
	} catch (error) {
		if (error instanceof ServiceError) return error;
		throw error;
	}
}

/** Each request stands for itself: there are no sessions, and nothing comes unasked. */
async function answerMcp(
	service: GenerationService,
	{ method, headers: sent, body: text }: ServiceRequest,
): Promise<Answer> {
	const key = keyOf(service, sent.authorization);
	if (key instanceof ServiceError) {
		const { status, body } = errorAnswer(key.row, key.message, key.param);
		const headers = { ...json, 'www-authenticate': 'Bearer' };
		return { status, headers, body: JSON.stringify(body), happened: key.row };
	}
	if (method !== 'POST') {
		const headers = { allow: 'POST' };
		return { status: 405, headers, body: '', happened: 'no stream of events' };
	}
	const lines: string[] = [];
	const server = createMcpServer(new McpConnection(service, key), (line) => lines.push(line));
	const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
	await server.connect(transport);
	try {
		const headers = Object.entries(sent).map(([name, value]) => [name, String(value)]);
		const url = 'http://sandbox.invalid/mcp';
		const request = new Request(url, { method, headers, body: String(text) });
		const response = await transport.handleRequest(request);
		return {
			status: response.status,
			headers: Object.fromEntries(response.headers),
			body: await response.text(),
			happened: lines.join(', '),
		};
	} finally {
		await server.close();
	}
}

/** The connector for agents at `/mcp` (spec 1.6), over streamable HTTP with a bearer key. */
export function addMcpRoutes(app: FastifyInstance, service: GenerationService, log: LogLine): void {
	app.all('/mcp', async (request, reply) => {
		const started = performance.now();
		const asked = serviceRequest(request);
		const { status, headers, body, happened } = await answerMcp(service, asked);
		await reply.code(status).headers(headers).send(body);
		const milliseconds = performance.now() - started;
		log({ ...asked, status, delivery: 'answer', happened, milliseconds });
	});
}
