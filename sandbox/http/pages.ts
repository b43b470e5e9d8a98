import type { Response } from 'express';

const style = `
	body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
		color: #1c2333; background: #fafbfd; }
	h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
	table { border-collapse: collapse; width: 100%; background: #fff; }
	th, td { text-align: left; padding: .35rem .7rem; border-bottom: 1px solid #e3e7ef; }
	td { font-variant-numeric: tabular-nums; }
	td form { display: inline-block; margin-right: .5rem; }
	input, select, button { font: inherit; padding: .2rem .6rem; }
	input[type=number] { width: 6rem; }
	.completed { color: #137a3f; } .failed { color: #b3261e; } .pending, .processing { color: #8a5a00; }
	code { font-size: .85em; }`;

/** A text as HTML shows it. */
export function escaped(text: string): string {
	const entities: Record<string, string> = {
		'&': '&amp;',
		'<': '&lt;',
		'>': '&gt;',
		'"': '&quot;',
	};
	return text.replace(/[&<>"]/g, (letter) => entities[letter]);
}

/** A table of cells in HTML. */
export function table(heads: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
	const cells = (tag: string, texts: readonly string[]): string =>
		`<tr>${texts.map((text) => `<${tag}>${text}</${tag}>`).join('')}</tr>`;
	return `<table>${cells('th', heads)}${rows.map((row) => cells('td', row)).join('')}</table>`;
}

/** A whole page for people; `refreshSeconds` has the browser load it again and again. */
export function page(title: string, body: string, more: { refreshSeconds?: number } = {}): string {
	const { refreshSeconds } = more;
	const refresh = refreshSeconds ? `<meta http-equiv="refresh" content="${refreshSeconds}">` : '';
	return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">${refresh}
<title>${title}</title><style>${style}</style></head><body>
<h1>${title}</h1>${body}
</body></html>`;
}

/** Answers with a page that runs no scripts and that no other page can frame. */
export function sendPage(response: Response, html: string, status = 200): void {
	response
		.status(status)
		.set({
			'content-security-policy':
				"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
			'x-frame-options': 'DENY',
			'referrer-policy': 'same-origin',
			'cache-control': 'no-store',
		})
		.type('text/html; charset=utf-8')
		.send(html);
}
