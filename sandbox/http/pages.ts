import type { Response } from 'express';
import { style } from './style';

/** Escapes a text for HTML. */
export function escaped(text: string): string {
	const entities: Record<string, string> = {
		'&': '&amp;',
		'<': '&lt;',
		'>': '&gt;',
		'"': '&quot;',
	};
	return text.replace(/[&<>"]/g, (letter) => entities[letter]);
}

/** Returns an HTML table, or '' without rows. On a narrow screen, more than four columns are stacked. */
export function table(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
	if (rows.length === 0) return '';
	const head = heads.map((text) => `<th scope="col">${text}</th>`).join('');
	const lines = rows.map((row) => {
		const cells = row.map((text, index) => `<td data-head="${heads[index]}">${text}</td>`);
		return `<tr>${cells.join('')}</tr>`;
	});
	const kind = heads.length > 4 ? ' class="stack"' : '';
	return `<div class="scroll"><table${kind}><tr>${head}</tr>${lines.join('')}</table></div>`;
}

/** Returns a button that copies a text. `what` is the text's name for screen readers. */
export function copyButton(text: string, what: string): string {
	return `<button type="button" data-copy="${escaped(text)}" aria-label="Copy ${escaped(what)}">Copy</button>`;
}

/** An inline icon. Without it, browsers would request one from the REST interface. */
const icon =
	"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E" +
	"%3Crect width='8' height='8' rx='2' fill='%234a4fd0'/%3E%3Cpath d='M3 2l3 2-3 2z' fill='%23fff'/%3E%3C/svg%3E";

/** Returns a complete HTML page. `script` is the path of one of the sandbox's scripts. */
export function page(title: string, body: string, { script }: { script?: string } = {}): string {
	const loaded = script ? `<script src="${script}" defer></script>` : '';
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${icon}">
<title>${title}</title><style>${style}</style>${loaded}</head><body>
<h1>${title}</h1>${body}
</body></html>`;
}

/** Sends a page that runs and loads nothing from other origins, and that no other page can frame. */
export function sendPage(response: Response, html: string, status = 200): void {
	response
		.status(status)
		.set({
			'content-security-policy':
				"default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; media-src 'self'; " +
				"style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
			'x-frame-options': 'DENY',
			'referrer-policy': 'same-origin',
			'cache-control': 'no-store',
		})
		.type('text/html; charset=utf-8')
		.send(html);
}
