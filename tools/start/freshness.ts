import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What `dist` is built from. */
const sources = [
	'client',
	'credentials',
	'nodes',
	'icons',
	'gulpfile.js',
	'package.json',
	'tsconfig.json',
];

/** Whether `dist` holds what the manifest names, all of it newer than every source. */
export async function isBuilt(root: string): Promise<boolean> {
	const { n8n } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
		n8n: { nodes: string[]; credentials: string[] };
	};
	const built = [...n8n.nodes, ...n8n.credentials].map((file) => join(root, file));
	try {
		const times = await Promise.all(built.map(async (file) => (await stat(file)).mtimeMs));
		return Math.min(...times) > (await newest(sources.map((name) => join(root, name))));
	} catch {
		return false;
	}
}

async function newest(paths: string[]): Promise<number> {
	const times = paths.map(async (path) => {
		const stats = await stat(path);
		if (!stats.isDirectory()) return stats.mtimeMs;
		const names = await readdir(path);
		// A file that was deleted is newer in its folder only.
		return Math.max(stats.mtimeMs, await newest(names.map((name) => join(path, name))));
	});
	return Math.max(0, ...(await Promise.all(times)));
}
