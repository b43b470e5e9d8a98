import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const releases = dirname(fileURLToPath(import.meta.url));
const name = 'n8n-nodes-media-generation';

/**
 * Returns the folder of a private package that pins a release of n8n: its manifest, npm's settings and possibly a lock
 * file.
 *
 * @param {string} release a folder next to this file
 */
function packageFolder(release) {
	const folder = join(releases, release);
	if (existsSync(join(folder, 'package.json'))) return folder;
	throw new Error(`There is no release of n8n by the name of ${release} in ${releases}.`);
}

/**
 * Returns the files that determine an installation. The older releases have no lock file: npm installs the versions
 * that were available on the date in their common `.npmrc`.
 *
 * @param {string} release
 */
export function packageFiles(release) {
	const own = ['package.json', 'package-lock.json', '.npmrc']
		.map((file) => join(packageFolder(release), file))
		.filter(existsSync);
	return own.some((file) => file.endsWith('.npmrc')) ? own : [...own, join(releases, '.npmrc')];
}

/** Returns the system's cache folder for this user. */
function userCacheFolder() {
	if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
	if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches');
	if (process.platform === 'win32') {
		return process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
	}
	return join(homedir(), '.cache');
}

/** Returns the folder for installations of n8n, which is outside the repository. */
function cacheFolder() {
	return process.env.N8N_MEDIA_CACHE || join(userCacheFolder(), name);
}

/**
 * Returns the version of n8n that a release's package pins.
 *
 * @param {string} release
 */
export function n8nVersion(release) {
	const manifest = JSON.parse(readFileSync(join(packageFolder(release), 'package.json'), 'utf8'));
	return manifest.dependencies.n8n;
}

/**
 * Returns the folder of a release's installation. Its name contains a hash of the files that determine it.
 *
 * @param {string} release
 */
export function installationFolder(release) {
	const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
	for (const file of packageFiles(release)) hash.update(readFileSync(file));
	return join(cacheFolder(), `n8n-${n8nVersion(release)}-${hash.digest('hex').slice(0, 10)}`);
}
