/**
 * The README and the documents that it links to. npm and every forge resolve relative links, in forks and clones too: npm
 * by the `repository` of package.json.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const documents = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = [
	...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', 'sandbox/README.md'],
	...documents.map((name) => `docs/${name}`),
];

function linksIn(text: string): string[] {
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
}

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

it('the README is short, and links to the files of the repository relatively', () => {
	const readme = read('README.md');
	expect(readme.split('\n').length).toBeLessThanOrEqual(170);
	expect(readme).not.toMatch(/github(usercontent)?\.com\/[^)\s]*\/(blob|raw|main)\//);
});

it.each(pages)('%s has links to existing files and headings', (path) => {
	const own = linksIn(read(path)).filter((link) => !link.startsWith('https'));
	expect(own.filter((link) => !leadsSomewhere(path, link))).toEqual([]);
});

it.each(documents)('docs/%s is reached from the README, or from a document that is', (name) => {
	const links = pages.flatMap((page) => linksIn(read(page)));
	expect(links.some((link) => link.endsWith(name))).toBe(true);
});

it('CONTRIBUTING.md names only existing files and folders; X stands for any node', () => {
	const folders = readdirSync(root);
	const words = [...read('CONTRIBUTING.md').matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) =>
		code.split(' '),
	);
	const paths = words
		.filter((word) => /^[\w./-]+$/.test(word) && folders.includes(word.split('/')[0]))
		.filter((path) => !/^(dist|output|coverage)\b/.test(path))
		.map((path) => path.replace(/\bX\b/g, 'ImageGeneration'));
	expect(paths.length).toBeGreaterThan(30);
	expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
