import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const releases = dirname(fileURLToPath(import.meta.url));
const name = 'n8n-nodes-media-generation';

/**
 * The private package that names a release of n8n: its manifest, npm's settings and maybe a lock file.
 *
 * @param {string} release a folder beside this file
 */
function packageFolder(release) {
	const folder = join(releases, release);
	if (existsSync(join(folder, 'package.json'))) return folder;
	throw new Error(`There is no release of n8n by the name of ${release} in ${releases}.`);
}

/**
 * The files that an installation is made from. The older releases have no lock file: npm installs what
 * there was on the day that their `.npmrc` names.
 *
 * @param {string} release
 */
export function packageFiles(release) {
	return ['package.json', 'package-lock.json', '.npmrc']
		.map((file) => join(packageFolder(release), file))
		.filter(existsSync);
}

/** Where programs of this system keep what they can fetch again. */
function userCacheFolder() {
	if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
	if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
	if (process.platform === 'win32') {
		return process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
	}
	return join(homedir(), '.cache');
}

/** The folder that installations of n8n are kept in, outside the repository. */
function cacheFolder() {
	return process.env.N8N_MEDIA_CACHE || join(userCacheFolder(), name);
}

/**
 * The version of n8n that a release's package names.
 *
 * @param {string} release
 */
export function n8nVersion(release) {
	const manifest = JSON.parse(readFileSync(join(packageFolder(release), 'package.json'), 'utf8'));
	return manifest.dependencies.n8n;
}

/**
 * The folder of a release's installation. Its name changes with the files that it is made from.
 *
 * @param {string} release
 */
export function installationFolder(release) {
	const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
	for (const file of packageFiles(release)) hash.update(readFileSync(file));
	return join(cacheFolder(), `n8n-${n8nVersion(release)}-${hash.digest('hex').slice(0, 10)}`);
}
