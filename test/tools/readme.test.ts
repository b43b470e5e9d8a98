/**
 * The README and the documents that it links to. npm and every forge resolve relative links, in forks and clones too: npm
 * by the `repository` of package.json.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { INode } from 'n8n-workflow';

const root = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));

function linksIn(text: string): string[] {
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
}

/** Returns where a text says "key" without saying which. */
function bareKeys(text: string): string[] {
	const rest = text.replace(
		/(API|idempotency)[\s_*]+keys?|Share Keys Under a\s+Name|shared keys/gi,
		'',
	);
	const found = [...rest.matchAll(/(?<![-\w`/(])[Kk]eys?\b(?! Scope)/g)];
	return found.map(({ index }) => rest.slice(Math.max(0, index - 40), index + 20));
}

function isText(value: unknown): value is string {
	return typeof value === 'string';
}

describe('README.md', () => {
	it('is short', () => {
		expect(readme.split('\n').length).toBeLessThanOrEqual(170);
	});

	it('links to the files of the repository relatively, so that links work in clones and forks', () => {
		const links = linksIn(readme);
		expect(
			links.filter((link) => /github(usercontent)?\.com\/.*\/(blob|raw|main)\//.test(link)),
		).toEqual([]);
		const own = links.filter((link) => !link.startsWith('https://'));
		expect(own.length).toBeGreaterThan(25);
		expect(own.filter((link) => !leadsSomewhere('README.md', link))).toEqual([]);
	});
});

describe.each(['README.md', 'CONTRIBUTING.md', ...documents.map((name) => `docs/${name}`)])(
	'%s',
	(path) => {
		it('can be read in the source: at most 200 lines, none longer than 400 characters', () => {
			const lines = read(path).split('\n');
			expect(lines.length).toBeLessThanOrEqual(201);
			expect(lines.filter(({ length }) => length > 400)).toEqual([]);
		});

		it('has links to existing files and headings', () => {
			const own = linksIn(read(path)).filter((link) => !link.startsWith('https'));
			expect(own.filter((link) => !leadsSomewhere(path, link))).toEqual([]);
		});

		it('never calls an API key or an idempotency key just a key', () => {
			// Tables that a bench wrote are about idempotency keys.
			expect(bareKeys(read(path).replace(/^\|.*/gm, ''))).toEqual([]);
		});
	},
);

it('neither does a note in an example', () => {
	const names = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.json'));
	for (const name of names) {
		const { nodes } = JSON.parse(read(join('examples', name))) as { nodes: INode[] };
		const notes = nodes.map(({ parameters }) => parameters.content).filter(isText);
		expect(notes.length).toBeGreaterThan(0);
		expect(notes.flatMap(bareKeys)).toEqual([]);
	}
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
function leadsSomewhere(page: string, link: string): boolean {
	const [file, heading] = link.split('#');
	const path = file === '' ? page : join(dirname(page), file);
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

it.each(documents)('docs/%s is reached from the README, or from a document that is', (name) => {
	const texts = [readme, ...documents.map((other) => read(join('docs', other)))];
	expect(texts.some((text) => linksIn(text).some((link) => link.endsWith(name)))).toBe(true);
});

it('SECURITY.md and examples/README.md have links to existing files and headings', () => {
	for (const page of ['SECURITY.md', 'examples/README.md', 'sandbox/README.md']) {
		const own = linksIn(read(page)).filter((link) => !link.startsWith('https'));
		expect(own.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
	}
});
