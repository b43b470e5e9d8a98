import type { Express } from 'express';
import { consentPath, titleOf } from '../oauth/sign-in';
import type { SignIn, SignInRequest } from '../oauth/sign-in';
import type { GenerationService } from '../service';
import { connectedAppsPath } from './connected-apps';
import type { LogLine } from './log';
import { escaped, page, sendPage } from './pages';
import { formFields, serviceRequest } from './request';

function consentPage(
	{ accounts }: GenerationService,
	id: string,
	{ client, params }: SignInRequest,
): string {
	const title = escaped(titleOf(client));
	const options = accounts
		.all()
		.map(({ name, balance }) => {
			const text = `${escaped(name)} (${balance.toLocaleString('en')} credits)`;
			return `<option value="${escaped(name)}">${text}</option>`;
		})
		.join('');
	const body = `
<p><b>${title}</b> asks to use the connector for your account.
You will be sent back to <b>${escaped(new URL(params.redirectUri).host)}</b>.</p>
<p>It may</p>
<ul><li>see the models, your credits and your asset library</li>
<li>create pictures and videos with your credits: up to 500 in any 24 hours, unless you change that</li></ul>
<p>It does not receive your API key. You can pause, limit or disconnect it at any time under
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

/** Returns the account that the app may use, null for Deny, or undefined for any other answer. */
function answerIn(fields: URLSearchParams, { accounts }: GenerationService) {
	const answer = fields.get('answer');
	if (answer === 'deny') return null;
	return answer === 'allow' ? accounts.find(fields.get('account') ?? '') : undefined;
}

/** Adds the page where the user allows or denies a sign-in (spec 5.8). */
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
		if (account === undefined) return sendPage(response, consentPage(service, id, asked), 400);
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
