import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import type { Express, RequestHandler } from 'express';
import { consentPath, titleOf } from '../oauth/sign-in';
import type { SignIn, SignInRequest } from '../oauth/sign-in';
import { scope } from '../oauth/grants';
import { destinationOf } from '../oauth/redirects';
import type { GenerationService } from '../service';
import { connectedAppsPath } from './connected-apps';
import type { LogLine } from './log';
import { escaped, page, sendPage } from './pages';
import { formFields, serviceRequest } from './request';

/** The paths that the SDK's router answers. */
export const signInPaths = [
	'/authorize',
	'/token',
	'/register',
	'/revoke',
	'/.well-known/oauth-protected-resource/mcp',
	'/.well-known/oauth-authorization-server',
];

/** The SDK's own OAuth endpoints, without rate limits: the sandbox is used locally. */
function sdkRoutes(signIn: SignIn): RequestHandler {
	const unlimited = { rateLimit: false } as const;
	return mcpAuthRouter({
		provider: signIn,
		issuerUrl: new URL(signIn.connector().origin),
		resourceServerUrl: signIn.connector(),
		resourceName: 'Media generation sandbox',
		scopesSupported: [scope],
		authorizationOptions: unlimited,
		tokenOptions: unlimited,
		clientRegistrationOptions: unlimited,
		revocationOptions: unlimited,
	});
}

/** Signing in to the connector (spec 5.8), as apps do it: the SDK's endpoints, which read bodies themselves. */
export function addSignInRoutes(app: Express, signIn: SignIn, log: LogLine): void {
	let sdk: RequestHandler | null = null;
	app.all(signInPaths, async (request, response, next) => {
		const started = performance.now();
		// Never the address as it is: there is a code in it.
		const { method, path } = request;
		response.once('finish', () => {
			const { grant_type: happened = '' } = (request.body ?? {}) as { grant_type?: string };
			const milliseconds = performance.now() - started;
			log({
				method,
				path,
				status: response.statusCode,
				delivery: 'answer',
				happened,
				milliseconds,
			});
		});
		// Not before: until the sandbox listens, it does not know its own address.
		sdk ??= sdkRoutes(signIn);
		await sdk(request, response, next);
	});
}

function consentPage(
	{ accounts }: GenerationService,
	id: string,
	{ client, params }: SignInRequest,
): string {
	const title = escaped(titleOf(client));
	const place = destinationOf(params.redirectUri);
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
You will be sent back to <b>${escaped(place.text)}</b>${place.isApp ? ', an app on this device' : ''}.</p>
<p>It may</p>
<ul><li>see the models, your credits and your asset library</li>
<li>create pictures and videos with your credits: up to 500 in any 24 hours, unless you change that</li></ul>
<p>It sees no API key. You can pause, limit or disconnect it at any time under
<a href="${connectedAppsPath}" target="_blank">API / MCP Access, Connected apps</a>.</p>
<form method="post" action="${consentPath}">
<input type="hidden" name="request" value="${escaped(id)}">
<p><label>Account <select name="account">${options}</select></label></p>
<p><button name="answer" value="allow" class="primary">Allow</button> <button name="answer" value="deny">Deny</button></p>
</form>`;
	return page(`Connect ${title}`, body);
}

const tooLate = page(
	'Nothing to allow here',
	'<p>This request was already answered or has expired. Start again in the app that sent you here.</p>',
);

/** For an answer that the form of the consent page cannot send. It stays open for a good one. */
function unclearPage(id: string): string {
	const again = `${consentPath}?request=${encodeURIComponent(id)}`;
	return page(
		'Nothing was allowed',
		`<p>Choose one of the accounts, and Allow or Deny. <a href="${again}">Back</a></p>`,
	);
}

/** The account that may be used from now on, or null for Deny. Undefined for an answer that is neither. */
function answerIn(fields: URLSearchParams, { accounts }: GenerationService) {
	const answer = fields.get('answer');
	if (answer === 'deny') return null;
	return answer === 'allow' ? accounts.find(fields.get('account') ?? '') : undefined;
}

/** The page where a person says yes or no to a sign-in (spec 5.8). */
export function addConsent(
	app: Express,
	service: GenerationService,
	signIn: SignIn,
	log: LogLine,
): void {
	app.get(consentPath, (request, response) => {
		const id = serviceRequest(request).query?.request ?? '';
		const asked = signIn.request(id);
		if (!asked) return sendPage(response, tooLate, 400);
		sendPage(response, consentPage(service, id, asked));
	});
	app.post(consentPath, (request, response) => {
		const started = performance.now();
		const fields = formFields(request);
		const id = fields.get('request') ?? '';
		const asked = signIn.request(id);
		if (!asked) return sendPage(response, tooLate, 400);
		const account = answerIn(fields, service);
		if (account === undefined) return sendPage(response, unclearPage(id), 400);
		response.redirect(303, signIn.decide(id, asked, account));
		log({
			method: 'POST',
			path: consentPath,
			status: 303,
			delivery: 'answer',
			happened: `${titleOf(asked.client)} ${account ? `may act for ${account.name}` : 'was denied'}`,
			milliseconds: performance.now() - started,
		});
	});
}
