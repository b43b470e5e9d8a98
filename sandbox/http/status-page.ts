import type { FastifyInstance } from 'fastify';
import type { BookEntry } from '../books/books';
import type { GenerationService } from '../service';

const recentCount = 50;

const style = `
	body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
		color: #1c2333; background: #fafbfd; }
	h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
	table { border-collapse: collapse; width: 100%; background: #fff; }
	th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid #e3e7ef; }
	td { font-variant-numeric: tabular-nums; }
	.completed { color: #137a3f; } .failed { color: #b3261e; } .pending, .processing { color: #8a5a00; }
	code { font-size: .85em; }`;

function escaped(text: string): string {
	const entities: Record<string, string> = {
		'&': '&amp;',
		'<': '&lt;',
		'>': '&gt;',
		'"': '&quot;',
	};
	return text.replace(/[&<>"]/g, (letter) => entities[letter]);
}

function table(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
	const cells = (tag: string, texts: readonly string[]): string =>
		`<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>`;
	return `<table>${cells('th', heads)}${rows.map((row) => cells('td', row)).join('')}</table>`;
}

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
export function statusPage(service: GenerationService): string {
	const newest = [...service.books.generations].reverse();
	const isRunning = ({ state }: BookEntry): boolean =>
		state === 'pending' || state === 'processing';
	const running = newest.filter(isRunning);
	const recent = newest.filter((entry) => !isRunning(entry)).slice(0, recentCount);
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="3">
<title>Media generation sandbox</title><style>${style}</style></head><body>
<h1>Media generation sandbox</h1>
<h2>Accounts</h2>${accountTable(service)}
<h2>Running: ${running.length}</h2>${generationTable(service, running)}
<h2>Recent</h2>${generationTable(service, recent)}
</body></html>`;
}

/** Serves the page at `/`. */
export function addStatusPage(app: FastifyInstance, service: GenerationService): void {
	app.get('/', async (_request, reply) => {
		await reply.type('text/html; charset=utf-8').send(statusPage(service));
	});
}
