import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { getOAuthProtectedResourceMetadataUrl } from '@modelcontextprotocol/sdk/server/auth/router.js';
import {
	createMcpHandler,
	isLegacyRequest,
	ProtocolErrorCode,
	WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Server } from '@modelcontextprotocol/server';
import type { Express } from 'express';
import type { Caller } from '../accounts/accounts';
import { authenticate, hasKeyForm } from '../accounts/authentication';
import { errorAnswer, ServiceError } from '../basics/errors';
import { parseJson } from '../basics/json';
import { bearerOf } from '../books/requests';
import { McpConnection } from '../mcp/connection';
import { createMcpServer } from '../mcp/server';
import { connectorAt, connectorPaths } from '../oauth/connector';
import type { SignIn } from '../oauth/sign-in';
import type { ServiceRequest } from '../requests/request';
import type { GenerationService } from '../service';
import type { LogLine } from './log';
import { serviceRequest } from './request';

interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string;
	happened: string;
}

const json = { 'content-type': 'application/json' };

/**
 * Returns the caller of a request: an API key, or an app with an access token (spec 5.8).
 *
 * @throws ServiceError 401 for an unknown caller
 */
async function callerOf({ accounts }: GenerationService, signIn: SignIn, authorization?: string) {
	const token = bearerOf(authorization);
	if (token === null || hasKeyForm(token)) return authenticate(accounts, authorization);
	try {
		return (await signIn.verifyAccessToken(token)).extra.app;
	} catch (error) {
		if (!(error instanceof OAuthError)) throw error;
		throw new ServiceError('authentication_error', error.message);
	}
}

/** Returns a 401 response that points to the authorization metadata (RFC 9728). */
function unauthorized(
	{ row, message, param }: ServiceError,
	{ headers: { host, authorization }, path }: ServiceRequest,
): Answer {
	const { status, body } = errorAnswer(row, message, param);
	const connector = connectorAt(host, path);
	const metadata = `resource_metadata="${getOAuthProtectedResourceMetadataUrl(connector)}"`;
	const challenge =
		authorization !== undefined
			? `Bearer error="invalid_token", ${metadata}`
			: `Bearer ${metadata}`;
	const headers = { ...json, 'www-authenticate': challenge };
	return { status, headers, body: JSON.stringify(body), happened: row };
}

/** Returns the response to a body that is not JSON, as JSON-RPC requires it. */
function unreadable(why: string): Answer {
	const error = { code: ProtocolErrorCode.ParseError, message: `Parse error: ${why}` };
	const body = JSON.stringify({ jsonrpc: '2.0', error, id: null });
	return { status: 400, headers: json, body, happened: why };
}

/**
 * Serves a request of the protocol revisions up to 2025-11-25, or of 2026-07-28. The connector has no sessions, so each
 * request has a server of its own. It sends no events, so each response is a single body.
 */
async function serve(
	request: Request,
	parsedBody: unknown,
	create: () => Server,
): Promise<Response> {
	if (!(await isLegacyRequest(request.clone(), parsedBody))) {
		const options = { legacy: 'reject', maxSubscriptions: 0 } as const;
		return await createMcpHandler(create, options).fetch(request, { parsedBody });
	}
	const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
	const server = create();
	await server.connect(transport);
	try {
		const response = await transport.handleRequest(request, { parsedBody });
		const body = await response.text();
		return new Response(body || null, response);
	} finally {
		await server.close();
	}
}

/** Handles one MCP request. The connector is stateless: it has no sessions and sends no notifications. */
async function answerMcp(
	service: GenerationService,
	caller: Caller,
	{ method, headers: sent, body: bytes }: ServiceRequest,
): Promise<Answer> {
	if (method !== 'POST') {
		const headers = { allow: 'POST' };
		return { status: 405, headers, body: '', happened: 'no stream of events' };
	}
	let parsed: unknown;
	try {
		parsed = parseJson(bytes as Uint8Array);
	} catch (error) {
		return unreadable((error as SyntaxError).message);
	}
	const headers = Object.entries(sent).map(([name, value]) => [name, String(value)]);
	const request = new Request('http://sandbox.invalid/mcp', {
		method,
		headers,
		body: JSON.stringify(parsed),
	});
	const lines: string[] = [];
	const connection = new McpConnection(service, caller, sent.authorization);
	const create = (): Server => createMcpServer(connection, (line) => lines.push(line));
	const response = await serve(request, parsed, create);
	return {
		status: response.status,
		headers: Object.fromEntries(response.headers),
		body: await response.text(),
		happened: lines.join(', '),
	};
}

/** Adds the connector for agents at `/mcp` (spec 1.6). It uses streamable HTTP and accepts keys and access tokens. */
export function addMcpRoutes(
	app: Express,
	service: GenerationService,
	signIn: SignIn,
	log: LogLine,
): void {
	const answer = async (asked: ServiceRequest): Promise<Answer> => {
		const { authorization } = asked.headers;
		try {
			return await answerMcp(service, await callerOf(service, signIn, authorization), asked);
		} catch (error) {
			if (!(error instanceof ServiceError)) throw error;
			return unauthorized(error, asked);
		}
	};
	app.all(connectorPaths, async (request, response) => {
		const started = performance.now();
		const asked = serviceRequest(request);
		const { status, headers, body, happened } = await answer(asked);
		const length = { 'content-length': Buffer.byteLength(body) };
		response.writeHead(status, { ...headers, ...length }).end(body);
		const milliseconds = performance.now() - started;
		log({ ...asked, status, delivery: 'answer', happened, milliseconds });
	});
}
