import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The private package that names n8n: its manifest, its lock file and npm's settings. */
export const packageFolder = join(dirname(fileURLToPath(import.meta.url)), 'package');

/** The files of it that an installation is made from. */
export const packageFiles = ['package.json', 'package-lock.json', '.npmrc'];

const name = 'n8n-nodes-media-generation';

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
export function cacheFolder() {
	return process.env.N8N_MEDIA_CACHE || join(userCacheFolder(), name);
}

/** The release of n8n that the package names. */
export function n8nVersion() {
	const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
	return manifest.dependencies.n8n;
}

/** The folder of the installation that the package asks for: another lock file, another folder. */
export function installationFolder() {
	const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
	for (const file of packageFiles) hash.update(readFileSync(join(packageFolder, file)));
	return join(cacheFolder(), `n8n-${n8nVersion()}-${hash.digest('hex').slice(0, 10)}`);
}
