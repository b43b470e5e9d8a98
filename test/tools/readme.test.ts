/** The README as users see it on npm, without a clone, and the documents that it links to. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { errorRow } from '../../client/api/error-table';

const root = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const repository =
	'(?:https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation/blob/main/|https://raw.githubusercontent.com/n8n-nodes-media-generation/n8n-nodes-media-generation/main/)';

function linksIn(text: string): string[] {
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
}

describe('README.md', () => {
	it('is short', () => {
		expect(readme.split('\n').length).toBeLessThanOrEqual(180);
	});

	it('has links that work without a clone and point to existing files', () => {
		const links = linksIn(readme);
		expect(links.filter((link) => !link.startsWith('https://'))).toEqual([]);
		const own = links.flatMap((link) => new RegExp(`^${repository}(.*)$`).exec(link)?.[1] ?? []);
		expect(own.length).toBeGreaterThan(15);
		expect(own.filter((path) => !leadsSomewhere('.', path))).toEqual([]);
		const others = links.filter((link) => /github(usercontent)?\.com/.test(link));
		expect(others).toHaveLength(own.length);
	});

	it('uses picture formats that every registry shows', () => {
		const pictures = [...readme.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, link]) => link);
		expect(pictures.length).toBeGreaterThan(2);
		for (const picture of pictures) expect(picture).toMatch(/raw\.githubusercontent\.com.*\.png$/);
	});

	it('names every example', () => {
		for (const name of readdirSync(join(root, 'examples'))) {
			if (name.endsWith('.json')) expect(readme).toContain(`/examples/${name}`);
		}
	});
});

it('docs/errors.md has the titles of the service’s errors as a user sees them', () => {
	const codes = ['insufficient_credits', 'model_not_found', 'CONCURRENCY_LIMIT_REACHED'];
	for (const code of codes) expect(read('docs/errors.md')).toContain(errorRow(code, 400).title);
});

it('examples/README.md says of every example what it does and what to swap', () => {
	const rows = [
		...read('examples/README.md').matchAll(/^\| \[(\S+)\]\(\1\) +\|([^|]+)\|([^|]+)\|/gm),
	];
	const files = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.json'));
	expect(rows.map(([, name]) => name).sort()).toEqual(files.sort());
	for (const [, , what, swap] of rows) for (const text of [what, swap]) expect(text).toMatch(/\w/);
});

describe('CONTRIBUTING.md', () => {
	const contributing = read('CONTRIBUTING.md');
	const left = ['coverage', 'dist', 'node_modules', 'output'];
	const folders = readdirSync(root, { withFileTypes: true })
		.filter((entry) => entry.isDirectory() && !/^\./.test(entry.name))
		.map(({ name }) => name)
		.filter((name) => !left.includes(name));

	it('names every folder, in the order of the repository', () => {
		const rows = [...contributing.matchAll(/^\| `(\w+)\/\S*` /gm)].map(([, name]) => name);
		expect([...new Set(rows)]).toEqual(folders.sort());
	});

	it('names only existing files and folders; X stands for any node', () => {
		const words = [...contributing.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) => code.split(' '));
		const paths = words
			.filter((word) => /^[\w./-]+$/.test(word) && folders.includes(word.split('/')[0]))
			.map((path) => path.replace(/\bX\b/g, 'ImageGeneration'));
		expect(paths.length).toBeGreaterThan(30);
		expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
	});
});

/** Returns true if a link's file exists and has the heading that the link names. */
function leadsSomewhere(folder: string, link: string): boolean {
	const [file, heading] = link.split('#');
	const path = join(folder, file);
	if (!existsSync(join(root, path))) return false;
	const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, text]) => text);
	const anchors = headings.map((text) =>
		text
			.toLowerCase()
			.replace(/[^\w\- ]/g, '')
			.replaceAll(' ', '-'),
	);
	return heading === undefined || anchors.includes(heading);
}

describe.each(readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md')))(
	'docs/%s',
	(name) => {
		it('has links to existing files', () => {
			const own = linksIn(read(join('docs', name))).filter((link) => !/^(https|#)/.test(link));
			expect(own.filter((link) => !leadsSomewhere(join('docs', dirname(name)), link))).toEqual([]);
		});

		it('is reached from the README, or from a document that is', () => {
			const others = readdirSync(join(root, 'docs')).filter((other) => other.endsWith('.md'));
			const texts = [readme, ...others.map((other) => read(join('docs', other)))];
			expect(texts.some((text) => linksIn(text).some((link) => link.endsWith(name)))).toBe(true);
		});
	},
);
