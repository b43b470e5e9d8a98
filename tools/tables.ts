/** Tables of the documentation that a command writes. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One row of a table, by column name. */
export type Row = Record<string, string | number>;

const ROOT = join(__dirname, '..');

/** Returns a Markdown table with aligned columns, in Prettier's format. The keys of the first row are the columns. */
export function tableOf(rows: Row[]): string {
	const columns = Object.keys(rows[0] ?? {});
	const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column])))];
	const widths = columns.map((_, index) => Math.max(3, ...cells.map((row) => row[index].length)));
	const line = (row: string[]) =>
		`| ${row.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`;
	const rule = line(widths.map((width) => '-'.repeat(width)));
	return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}

/** The longest line of a list, as in the prose of the documentation. */
const MOST_COLUMNS = 124;

/** Returns a Markdown list, with wrapped lines. A table with long texts could not be read in the source. */
export function listOf(entries: string[]): string {
	return entries.map((entry) => wrapped(`- ${entry}`, '  ')).join('\n');
}

function wrapped(text: string, indent: string): string {
	const [first, ...words] = text.split(' ');
	let width = first.length;
	return words.reduce((lines, word) => {
		const fits = width + 1 + word.length <= MOST_COLUMNS;
		width = fits ? width + 1 + word.length : indent.length + word.length;
		return `${lines}${fits ? ' ' : `\n${indent}`}${word}`;
	}, first);
}

/** Returns the paths of the pages that may contain such tables and lists. */
export function pages(): string[] {
	const names = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
	return [join(ROOT, 'README.md'), ...names.map((name) => join(ROOT, 'docs', name))];
}

/**
 * Returns a page with its tables and lists updated. Each follows a marker, such as `<!-- code:options -->`.
 *
 * @param kind the part of the marker before the colon
 * @param sections tables and lists by the part behind it, each of which may end with a line that names its command
 */
export function withSections(text: string, kind: string, sections: Map<string, string>): string {
	const section = '(\\n\\n(\\||- ).*(\\n(\\||- |  ).*)*)?(\\n\\n_`npm run .*_)?';
	const places = new RegExp(`<!-- ${kind}:([\\w-]+) -->${section}`, 'g');
	return text.replace(places, (present: string, name: string) => {
		const written = sections.get(name);
		return written === undefined ? present : `<!-- ${kind}:${name} -->\n\n${written}`;
	});
}

/** Updates the sections of all pages. */
export function writeSections(kind: string, sections: Map<string, string>): void {
	for (const page of pages()) {
		const text = readFileSync(page, 'utf8');
		const written = withSections(text, kind, sections);
		if (written !== text) writeFileSync(page, written);
	}
}
