import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import express from 'express';
import type { Express } from 'express';
import type { FastifyInstance } from 'fastify';
import { consentPath, titleOf } from '../oauth/sign-in';
import type { SignIn, SignInRequest } from '../oauth/sign-in';
import { scope } from '../oauth/grants';
import type { GenerationService } from '../service';
import { connectedAppsPath } from './connected-apps';
import type { LogLine } from './log';
import { escaped, page, sendPage } from './pages';
import { formFields, serviceRequest } from './request';

/** What the SDK's router answers. */
const sdkPaths = [
	'/authorize',
	'/token',
	'/register',
	'/revoke',
	'/.well-known/oauth-protected-resource/mcp',
	'/.well-known/oauth-authorization-server',
];

/** The SDK's own OAuth endpoints. Nobody but whoever started the sandbox uses them: no rate limits. */
function sdkApp(signIn: SignIn): Express {
	const unlimited = { rateLimit: false } as const;
	const app = express();
	app.disable('x-powered-by');
	app.use(
		mcpAuthRouter({
			provider: signIn,
			issuerUrl: new URL(signIn.connector().origin),
			resourceServerUrl: signIn.connector(),
			resourceName: 'Media generation sandbox',
			scopesSupported: [scope],
			authorizationOptions: unlimited,
			tokenOptions: unlimited,
			clientRegistrationOptions: unlimited,
			revocationOptions: unlimited,
		}),
	);
	return app;
}

/** Signing in to the connector (spec 5.8), as apps do it: the SDK's endpoints. */
export function addSignInRoutes(app: FastifyInstance, signIn: SignIn, log: LogLine): void {
	let sdk: Express | null = null;
	for (const path of sdkPaths) {
		app.all(path, {
			onRequest: async (request, reply) => {
				const started = performance.now();
				reply.hijack();
				reply.raw.once('finish', () => {
					// Never the address as it is: there is a code in it.
					const { body } = request.raw as { body?: { grant_type?: string } };
					const { statusCode: status } = reply.raw;
					const happened = body?.grant_type ?? '';
					const milliseconds = performance.now() - started;
					log({ method: request.method, path, status, delivery: 'answer', happened, milliseconds });
				});
				// Not before: until the sandbox listens, it does not know its own address.
				sdk ??= sdkApp(signIn);
				sdk(request.raw, reply.raw);
			},
			handler: () => undefined,
		});
	}
}

function consentPage(
	{ accounts }: GenerationService,
	id: string,
	{ client, params }: SignInRequest,
): string {
	const title = escaped(titleOf(client));
	const about = client.client_uri
		? ` It says that it is <b>${escaped(client.client_uri)}</b>.`
		: '';
	const options = accounts
		.all()
		.map(({ name, balance }) => {
			const text = `${escaped(name)} (${balance.toLocaleString('en')} credits)`;
			return `<option value="${escaped(name)}">${text}</option>`;
		})
		.join('');
	const body = `
<p><b>${title}</b> asks to use the connector for your account.${about}
You will be sent back to <b>${escaped(new URL(params.redirectUri).host)}</b>.</p>
<p>It may</p>
<ul><li>see the models, your credits and your asset library</li>
<li>create pictures and videos with your credits: up to 500 in any 24 hours, unless you change that</li></ul>
<p>It sees no API key. You can pause, limit or disconnect it at any time under
<a href="${connectedAppsPath}" target="_blank">API / MCP Access, Connected apps</a>.</p>
<form method="post" action="${consentPath}">
<input type="hidden" name="request" value="${escaped(id)}">
<p><label>Account <select name="account">${options}</select></label></p>
<p><button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button></p>
</form>`;
	return page(`Connect ${title}`, body);
}

const tooLate = page(
	'Nothing to allow here',
	'<p>This request was answered, or is too long ago. Start again in the app that sent you here.</p>',
);

/** The page where a person says yes or no to a sign-in (spec 5.8). */
export function addConsent(
	app: FastifyInstance,
	service: GenerationService,
	signIn: SignIn,
	log: LogLine,
): void {
	app.get(consentPath, async (request, reply) => {
		const id = serviceRequest(request).query?.request ?? '';
		const asked = signIn.request(id);
		if (!asked) return await sendPage(reply, tooLate, 400);
		await sendPage(reply, consentPage(service, id, asked));
	});
	app.post(consentPath, async (request, reply) => {
		const started = performance.now();
		const fields = formFields(request);
		const id = fields.get('request') ?? '';
		const asked = signIn.request(id);
		if (!asked) return await sendPage(reply, tooLate, 400);
		const account = fields.get('answer') === 'allow' ? fields.get('account') : null;
		await reply.redirect(signIn.decide(id, asked, account), 303);
		log({
			method: 'POST',
			path: consentPath,
			status: 303,
			delivery: 'answer',
			happened: `${titleOf(asked.client)} ${account ? `may act for ${account}` : 'was denied'}`,
			milliseconds: performance.now() - started,
		});
	});
}
