import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Part } from './part';
import type { Measured, Results } from './results';
import { tableOf } from './table';

const FOLDER = join(__dirname, '..', 'docs');
const SECTION = /<!-- bench:([\w-]+) -->[^]*?<!-- \/bench -->/g;

/** Returns the content between the markers of the documentation, by the names of the markers. */
export function sectionsOf(parts: readonly Part[], results: Results): Map<string, string> {
	const sections = new Map<string, string>();
	for (const part of parts) {
		const result = results[part.name];
		if (!result) continue;
		const source = sourceOf(part.name, result.measured);
		for (const [name, rows] of Object.entries(part.tables(result))) {
			sections.set(name, `${tableOf(rows)}\n\n${source}`);
		}
	}
	return sections;
}

/**
 * Returns a page with updated tables.
 *
 * @throws if the page has a marker without a table
 */
export function withSections(text: string, sections: Map<string, string>): string {
	return text.replace(SECTION, (_, name: string) => {
		const section = sections.get(name);
		if (section === undefined) throw new Error(`Nothing was measured for the marker ${name}`);
		return `<!-- bench:${name} -->\n\n${section}\n\n<!-- /bench -->`;
	});
}

/** Returns the paths of the pages that may contain such tables. */
export function pages(): string[] {
	const names = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
	return [join(FOLDER, '..', 'README.md'), ...names.map((name) => join(FOLDER, name))];
}

/** Updates all tables in the documentation. */
export function writeDocs(sections: Map<string, string>): void {
	for (const page of pages()) {
		const text = readFileSync(page, 'utf8');
		const written = withSections(text, sections);
		if (written !== text) writeFileSync(page, written);
	}
}

function sourceOf(name: string, { date, node, machine, load }: Measured): string {
	const { cores, memoryGiB } = machine;
	const busy = load === undefined ? '' : `, at a load of ${load}`;
	const command = `npm run bench -- ${name}`;
	return `_\`${command}\`, ${date}, Node.js ${node.slice(1)}, ${cores} cores, ${memoryGiB} GiB${busy}._`;
}
