import type { Express } from 'express';
import type { BookEntry } from '../books/books';
import type { GenerationService } from '../service';
import { connectedAppsPath } from './connected-apps';
import { directiveHelp } from '../generations/directives';
import { liveScript, liveScriptPath } from './live-script';
import { copyButton, escaped, page, sendPage, table } from './pages';
import { thumbnailPath, videoPath } from './previews';

/** Number of finished generations that are shown. */
const recentCount = 48;

const number = (value: number): string => value.toLocaleString('en');

function isRunning({ state }: BookEntry): boolean {
	return state === 'pending' || state === 'processing';
}

function accountTable(service: GenerationService): string {
	const rows = service.accounts.all().map((account) => {
		const running = service.runningOf(account.name);
		return [
			escaped(account.name),
			account.plan ?? 'none',
			number(account.balance),
			`${running} of ${account.concurrency}`,
		];
	});
	return table(['Account', 'Plan', 'Credits', 'Running'], rows);
}

function keyTable({ accounts }: GenerationService): string {
	const rows = accounts
		.keys()
		.map(({ name, key }) => [
			escaped(name),
			`<span class="wide"><code>${key.slice(0, 13)}…</code> ${copyButton(key, `the API key ${name}`)}</span>`,
		]);
	return table(['Name', 'API key'], rows);
}

function directiveTable(): string {
	const rows = directiveHelp.map(([written, effect]) => [
		`<code>${escaped(written)}</code>`,
		escaped(effect),
	]);
	return table(['Prompt', 'What happens'], rows);
}

function bookFacts({ books }: GenerationService): string {
	const { created, running, completed, failed, charged, refunded } = books.totals;
	const facts: Array<[string, number]> = [
		['Generations', created],
		['Running', running],
		['Completed', completed],
		['Failed', failed],
		['Credits charged', charged],
		['Credits refunded', refunded],
	];
	const lines = facts.map(([name, value]) => `<dt>${name}</dt><dd>${number(value)}</dd>`);
	return `<dl class="facts">${lines.join('')}</dl>`;
}

/** Returns the content of a card: the output, the reason why there is none, or the duration. */
function sightOf(entry: BookEntry, service: GenerationService): string {
	const { id, state, type } = entry;
	if (state === 'failed') return '<div class="blank failed">failed, refunded</div>';
	if (state !== 'completed') {
		const seconds = Math.ceil((entry.finishes - service.clock.now()) / 1000);
		// While its input files are fetched, nobody knows when it will end.
		const left = Number.isFinite(seconds) ? `${seconds} s left` : 'end not known yet';
		return `<div class="blank ${state}">${state}<br>${left}</div>`;
	}
	if (type === 'video') {
		return (
			`<video controls muted loop playsinline preload="none" poster="${thumbnailPath(id)}" ` +
			`src="${videoPath(id)}"></video>`
		);
	}
	return `<img loading="lazy" src="${thumbnailPath(id)}" alt="">`;
}

function cardOf(entry: BookEntry, service: GenerationService): string {
	const { id, state, account, model, prompt, charged, refunded, created, ignored } = entry;
	const paid = `${charged} ${charged === 1 ? 'credit' : 'credits'}${refunded > 0 ? ', refunded' : ''}`;
	const time = new Date(created).toTimeString().slice(0, 8);
	const link = escaped(service.outputUrl(id) ?? '');
	const open = state === 'completed' ? ` · <a href="${link}">Open file</a>` : '';
	return `<figure class="card" id="card-${id}">${sightOf(entry, service)}<figcaption>
<div class="prompt">${escaped(prompt.slice(0, 200))}</div>
<div>${model} · ${paid}</div>
<div class="quiet">${time} · ${escaped(account)}${open}</div>
${ignored.length > 0 ? `<div class="quiet">Ignored: ${escaped(ignored.join(', '))}</div>\n` : ''}<code class="quiet">${id}</code></figcaption></figure>`;
}

/** Returns the page as HTML: running and recent generations, totals, accounts and keys. */
function statusPage(service: GenerationService, url: string): string {
	const newest = [...service.books.generations].reverse();
	const recent = newest.filter((entry) => !isRunning(entry)).slice(0, recentCount);
	const shown = [...newest.filter(isRunning), ...recent];
	const cards = shown.map((entry) => cardOf(entry, service)).join('');
	const none =
		'<p class="quiet" id="none">No generations yet. New ones appear here automatically.</p>';
	const { key } = service.accounts.keyOf('main');
	const body = `
<p>Base URL <code>${escaped(url)}</code> ${copyButton(url, 'the Base URL')}<br>
API key <code>${key}</code> ${copyButton(key, 'the API key')}</p>
<p><a href="${connectedAppsPath}">API / MCP Access</a></p>
<div class="desk"><section><h2>Outputs</h2>
<div class="cards" id="outputs" data-live="keyed">${cards || none}</div></section>
<aside><h2>Charges</h2><div id="books" data-live>${bookFacts(service)}</div>
<h2>Accounts</h2><div id="accounts" data-live>${accountTable(service)}</div>
<h2>API keys</h2>${keyTable(service)}
<h2>Prompts that fail on purpose</h2><p class="quiet">Write one of these into a prompt.</p>${directiveTable()}</aside></div>`;
	return page('Media generation sandbox', body, { script: liveScriptPath });
}

/** Serves the page at `/` and its script. */
export function addStatusPage(app: Express, service: GenerationService): void {
	app.get('/', (request, response) => {
		sendPage(response, statusPage(service, `http://${request.headers.host}`));
	});
	app.get(liveScriptPath, (_request, response) => {
		response.type('text/javascript').set('cache-control', 'no-store').send(liveScript);
	});
}
