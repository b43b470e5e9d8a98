import type { Express } from 'express';
import type { ConnectedApp } from '../accounts/connected-apps';
import { connectorAt } from '../oauth/connector';
import type { GenerationService } from '../service';
import { escaped, page, sendPage, table } from './pages';
import { formFields } from './request';

/** Path of the page where the owner of an account manages its connected apps (spec 2.6). */
export const connectedAppsPath = '/connected-apps';

/** Returns a form that changes one app. */
function form({ name }: ConnectedApp, action: string, label: string, field = ''): string {
	return (
		`<form method="post" action="${connectedAppsPath}">${field}` +
		`<input type="hidden" name="app" value="${name}">` +
		`<button name="action" value="${action}">${label}</button></form>`
	);
}

function rowOf(service: GenerationService, app: ConnectedApp) {
	const { title, account, connectedAt, connection } = app;
	const { dailyLimit, paused } = connection;
	const limit = `<input type="number" name="dailyLimit" min="0" value="${dailyLimit}" aria-label="Daily limit">`;
	return [
		`${escaped(title)} <code>${app.name}</code>`,
		escaped(account.name),
		new Date(connectedAt).toISOString().slice(0, 16).replace('T', ' '),
		`${service.books.usedInDay(app.name)} of ${dailyLimit} credits`,
		paused ? 'paused' : 'active',
		form(app, 'limit', 'Set limit', limit) +
			(paused ? form(app, 'resume', 'Resume') : form(app, 'pause', 'Pause')) +
			form(app, 'disconnect', 'Disconnect'),
	];
}

function appsPage(service: GenerationService, host: string | undefined): string {
	const heads = ['App', 'Account', 'Connected (UTC)', 'Last 24 hours', 'State', 'Change'];
	const rows = service.apps.all().map((app) => rowOf(service, app));
	const none = `<p>None yet. An app connects by signing in to ${escaped(connectorAt(host).href)}.</p>`;
	return page('API / MCP Access', `<h2>Connected apps</h2>${table(heads, rows) || none}`);
}

function act({ apps }: GenerationService, fields: URLSearchParams): void {
	const { name } = apps.app(fields.get('app') ?? '');
	const action = fields.get('action');
	if (action === 'pause') apps.change(name, { paused: true });
	if (action === 'resume') apps.change(name, { paused: false });
	if (action === 'disconnect') apps.disconnect(name);
	if (action !== 'limit') return;
	// An empty field is not a number. `Number('')` would be 0.
	apps.change(name, { dailyLimit: Number(fields.get('dailyLimit') || NaN) });
}

/** Serves the page and handles its forms. */
export function addConnectedApps(app: Express, service: GenerationService): void {
	app.get(connectedAppsPath, ({ headers }, response) => {
		sendPage(response, appsPage(service, headers.host));
	});
	app.post(connectedAppsPath, (request, response) => {
		try {
			act(service, formFields(request));
		} catch (error) {
			const message = error instanceof Error ? error.message : 'That did not work.';
			const body = `<p>${escaped(message)}</p><p><a href="${connectedAppsPath}">Back</a></p>`;
			return sendPage(response, page('Not changed', body), 400);
		}
		response.redirect(303, connectedAppsPath);
	});
}
