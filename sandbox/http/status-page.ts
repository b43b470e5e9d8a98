import type { Express } from 'express';
import type { BookEntry } from '../books/books';
import type { GenerationService } from '../service';
import { connectedAppsPath } from './connected-apps';
import { escaped, page, sendPage, table } from './pages';

const recentCount = 50;

function accountTable(service: GenerationService): string {
	const rows = service.accounts.all().map((account) => {
		const running = service.runningOf(account.name);
		return [
			escaped(account.name),
			account.plan ?? 'none',
			account.balance.toLocaleString('en'),
			`${running} of ${account.concurrency}`,
		];
	});
	return table(['Account', 'Plan', 'Credits', 'Running'], rows);
}

function outcomeOf(entry: BookEntry, service: GenerationService, now: number): string {
	if (entry.state === 'completed') {
		return `<a href="${escaped(service.outputUrl(entry.id) ?? '')}">open</a>`;
	}
	if (entry.state === 'failed') return `refunded ${entry.refunded}`;
	return `${Math.ceil((entry.finishes - now) / 1000)} s left`;
}

function generationTable(service: GenerationService, entries: readonly BookEntry[]): string {
	const now = service.clock.now();
	const rows = entries.map((entry) => [
		new Date(entry.created).toTimeString().slice(0, 8),
		`<span class="${entry.state}">${entry.state}</span>`,
		escaped(entry.account),
		entry.model,
		escaped(entry.prompt.slice(0, 120)),
		String(entry.charged),
		outcomeOf(entry, service, now),
		`<code>${entry.id}</code>`,
	]);
	return table(['Created', 'State', 'Account', 'Model', 'Prompt', 'Credits', '', 'Id'], rows);
}

/** The page in HTML: accounts, what runs, what was made last. */
function statusPage(service: GenerationService): string {
	const newest = [...service.books.generations].reverse();
	const isRunning = ({ state }: BookEntry): boolean =>
		state === 'pending' || state === 'processing';
	const running = newest.filter(isRunning);
	const recent = newest.filter((entry) => !isRunning(entry)).slice(0, recentCount);
	const body = `
<p><a href="${connectedAppsPath}">API / MCP Access</a></p>
<h2>Accounts</h2>${accountTable(service)}
<h2>Running: ${running.length}</h2>${generationTable(service, running)}
<h2>Recent</h2>${generationTable(service, recent)}`;
	return page('Media generation sandbox', body, { refreshSeconds: 3 });
}

/** Serves the page at `/`. */
export function addStatusPage(app: Express, service: GenerationService): void {
	app.get('/', (_request, response) => {
		sendPage(response, statusPage(service));
	});
}
