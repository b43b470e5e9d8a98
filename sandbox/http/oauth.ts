import { metadataHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/metadata.js';
import { clientRegistrationHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/register.js';
import { tokenHandler } from '@modelcontextprotocol/sdk/server/auth/handlers/token.js';
import {
	InvalidClientMetadataError,
	InvalidRequestError,
	OAuthError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { allowedMethods } from '@modelcontextprotocol/sdk/server/auth/middleware/allowedMethods.js';
import express from 'express';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import { isObject } from '../basics/fields';
import { authorizationIn, destinationIn, ownResource } from '../oauth/authorization';
import { connectorAt, connectorPaths } from '../oauth/connector';
import { scope } from '../oauth/grants';
import { returnTo } from '../oauth/redirects';
import { grantTypes, responseType } from '../oauth/registration';
import type { SignIn } from '../oauth/sign-in';
import type { LogLine } from './log';
import { formFields, jsonBody, queryOf } from './request';

const resourceMetadata = '/.well-known/oauth-protected-resource';
const serverMetadata = '/.well-known/oauth-authorization-server';

/** The paths that apps use to sign in. */
export const oauthPaths = [
	'/authorize',
	'/token',
	'/register',
	serverMetadata,
	...connectorPaths.map((path) => `${resourceMetadata}${path}`),
];

/** Describes the connector at the host and the path that were asked (RFC 9728). */
function describeResource({ headers: { host }, path }: Request): object {
	const resource = connectorAt(host, path.slice(resourceMetadata.length));
	return {
		resource: resource.href,
		authorization_servers: [`${resource.origin}/`],
		scopes_supported: [scope],
		resource_name: 'Media generation sandbox',
	};
}

/** Describes the endpoints at the host that was asked (RFC 8414). */
function describeServer({ headers: { host } }: Request): object {
	const { origin } = connectorAt(host);
	return {
		issuer: `${origin}/`,
		authorization_endpoint: `${origin}/authorize`,
		token_endpoint: `${origin}/token`,
		registration_endpoint: `${origin}/register`,
		response_types_supported: [responseType],
		grant_types_supported: grantTypes,
		code_challenge_methods_supported: ['S256'],
		token_endpoint_auth_methods_supported: [authenticationMethod],
		scopes_supported: [scope],
	};
}

/** No app gets a secret: PKCE protects its codes. */
const authenticationMethod = 'none';

const readBody = express.raw({ type: () => true, limit: '100kb', inflate: false });

/** Sends an error in the form of RFC 6749, 5.2 and RFC 7591, 3.2.2. */
function sendError(response: Response, error: OAuthError): void {
	// The SDK allows every origin, but only in the responses of its own handlers.
	response.set({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });
	response.status(400).json(error.toResponseObject());
}

/** Sends the error for a request that cannot be read. */
const answerUnreadable: ErrorRequestHandler = (
	error: Error & { status?: number },
	request,
	response,
	next,
) => {
	const { status = error instanceof SyntaxError ? 400 : 500, message } = error;
	if (error instanceof OAuthError) return sendError(response, error);
	if (status >= 500) return next(error);
	const isRegistration = request.path === '/register';
	sendError(
		response,
		new (isRegistration ? InvalidClientMetadataError : InvalidRequestError)(message),
	);
};

/** Parses a registration for the SDK's handler. */
const readRegistration: RequestHandler = (request, _response, next) => {
	const metadata = jsonBody(request);
	if (!isObject(metadata)) throw new InvalidClientMetadataError('The body must be a JSON object.');
	request.body = { ...metadata, token_endpoint_auth_method: authenticationMethod };
	next();
};

/** Parses a form for the SDK's handler. */
const readForm: RequestHandler = (request, _response, next) => {
	const fields = Object.fromEntries(formFields(request));
	if (fields.resource !== undefined) ownResource(fields.resource, request.headers.host);
	request.body = fields;
	next();
};

/** Handles a request for a code (RFC 6749, 4.1.1). The SDK's own handler loses the state of invalid requests. */
function authorize(signIn: SignIn): RequestHandler {
	return async (request, response) => {
		response.set('cache-control', 'no-store');
		const parameters = request.method === 'POST' ? formFields(request) : queryOf(request);
		const destination = destinationIn(parameters, signIn.clientOf);
		try {
			const asked = authorizationIn(parameters, destination, request.headers.host);
			await signIn.authorize(destination.client, asked, response);
		} catch (error) {
			if (!(error instanceof OAuthError)) throw error;
			const { errorCode, message } = error;
			const outcome = { error: errorCode, error_description: message };
			response.redirect(302, returnTo(destination, outcome));
		}
	};
}

/** Limits a handler to requests with a body. The SDK's handlers respond to all others. */
function onPost(handler: RequestHandler): RequestHandler {
	return (request, response, next) =>
		request.method === 'POST' ? handler(request, response, next) : next();
}

/** Creates the endpoints. Those of the SDK have no rate limits, because the sandbox is used locally. */
function oauthRoutes(signIn: SignIn): express.Router {
	const sdk = { provider: signIn, clientsStore: signIn.clientsStore, rateLimit: false } as const;
	const router = express.Router();
	router.use(onPost(readBody));
	router.use('/authorize', allowedMethods(['GET', 'POST']), authorize(signIn));
	router.use('/token', onPost(readForm), tokenHandler(sdk));
	router.use('/register', onPost(readRegistration), clientRegistrationHandler(sdk));
	return router;
}

/** Adds the endpoints that apps use to sign in to the connector (spec 5.8). They read bodies themselves. */
export function addOAuthRoutes(app: Express, signIn: SignIn, log: LogLine): void {
	const describe =
		(metadata: (request: Request) => object): RequestHandler =>
		(request, response, next) => {
			const handler = metadataHandler(metadata(request) as never);
			// Like a mounted router, the SDK's handler serves the root.
			request.url = '/';
			handler(request, response, next);
		};
	app.all(oauthPaths, (request, response, next) => {
		const started = performance.now();
		// Log the path only, because the full URL can contain a code.
		const { method, path } = request;
		response.once('finish', () => {
			const { grant_type: happened = '' } = (request.body ?? {}) as { grant_type?: string };
			const milliseconds = performance.now() - started;
			const status = response.statusCode;
			log({ method, path, status, delivery: 'answer', happened, milliseconds });
		});
		next();
	});
	const routes = oauthRoutes(signIn);
	app.all(serverMetadata, describe(describeServer));
	app.all(
		connectorPaths.map((path) => `${resourceMetadata}${path}`),
		describe(describeResource),
	);
	app.all(oauthPaths, routes, answerUnreadable);
}
