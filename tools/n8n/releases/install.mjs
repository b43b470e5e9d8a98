// node tools/n8n/releases/install.mjs [release]
// Installs the n8n of that folder in the user's cache, unless it is there already, and prints its location.
// Progress goes to stderr; the last line on stdout is JSON: { folder, node, n8n, version }.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';

import { installationFolder, n8nVersion, packageFiles } from './place.mjs';

const neededBytes = 4e9;
const progressInterval = 15_000;
/** Packages whose native code has to be built, if the release has them. The others are installed without building. */
const nativeCandidates = ['sqlite3', 'isolated-vm'];
const stampFile = 'installed.json';
const wantedMajor = 24;
const [release = 'current'] = process.argv.slice(2);

const stop = new AbortController();
const { signal } = stop;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stop.abort());

/**
 * Unsets npm settings that a parent npm passes to its children but that only apply to its own folder, and overrides
 * those of the user with which npm would leave out packages that n8n needs.
 */
const quietEnvironment = {
	npm_config_local_prefix: undefined,
	npm_config_update_notifier: 'false',
	npm_config_legacy_peer_deps: 'false',
	npm_config_include: 'optional',
	npm_config_engine_strict: 'false',
	npm_config_install_strategy: 'hoisted',
};

function say(line) {
	process.stderr.write(`${line}\n`);
}

function nodePackage() {
	const system = process.platform === 'win32' ? 'win' : process.platform;
	const prefix = system === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
	return `${prefix}-${system}-${process.arch}`;
}

/** Returns the Node.js for n8n: the current one if it is suitable, otherwise the one from npm. */
function findNode(folder) {
	const packaged = join(folder, 'node_modules', nodePackage());
	const binary = join(packaged, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
	if (existsSync(binary)) return { node: binary, headers: packaged };
	if (Number(process.versions.node.split('.')[0]) === wantedMajor)
		return { node: process.execPath };
	throw new Error(
		`n8n ${n8nVersion(release)} needs Node.js ${wantedMajor}, and npm offers none for ${process.platform} on ` +
			`${process.arch}. Install Node.js ${wantedMajor} and run this with it.`,
	);
}

async function requireSpace(folder) {
	const { bavail, bsize } = await statfs(folder);
	if (bavail * bsize >= neededBytes) return;
	const free = ((bavail * bsize) / 1e9).toFixed(1);
	throw new Error(
		`n8n takes about ${neededBytes / 1e9} GB to install, and there are ${free} GB free at ${folder}. ` +
			'Free some, or name another folder in the environment variable N8N_MEDIA_CACHE.',
	);
}

/**
 * Runs a task, and periodically prints that it is still running.
 *
 * @param howFar what is added to that, such as how much is done
 */
async function withProgress(what, work, howFar = () => '') {
	const started = Date.now();
	say(`  ${what}…`);
	const progress = setInterval(
		() => say(`  ${what}… ${howFar()}${Math.round((Date.now() - started) / 1000)} s`),
		progressInterval,
	);
	try {
		return await work();
	} finally {
		clearInterval(progress);
	}
}

/**
 * Runs a program, and keeps its output. A signal to this process ends the program, too. Then it rejects once the program
 * has ended, so that the caller can delete what the program has written.
 *
 * @param onError receives what the program writes to stderr, while it runs
 */
function run(command, args, { cwd, env, onError = () => {} }) {
	return new Promise((resolve, reject) => {
		const shell = process.platform === 'win32' && command === 'npm';
		const options = { cwd, env: { ...process.env, ...env }, shell, maxBuffer: 1e9, signal };
		let result;
		const child = execFile(command, args, options, (error, stdout, stderr) => {
			result = { code: error ? 1 : 0, stdout, stderr: stderr || (error?.message ?? '') };
		});
		child.stderr.on('data', onError);
		child.once('close', () => {
			if (signal.aborted) reject(new Error('Stopped. n8n is not installed.'));
			else resolve(result);
		});
	});
}

async function npmIn(cwd, headline, args, { env, onError } = {}) {
	const options = { cwd, env: { ...quietEnvironment, ...env }, onError };
	const { code, stderr } = await run('npm', args, options);
	if (code === 0) return;
	const said = stderr.replace(/^npm http .*\n/gm, '').trim();
	throw new Error(`${headline}.\n\n${said.slice(-4000)}`);
}

/** Returns about how many files npm fetches on this machine for a lock file; `null` without a lock file. */
function filesToFetch(folder) {
	const lock = join(folder, 'package-lock.json');
	if (!existsSync(lock)) return null;
	const { packages } = JSON.parse(readFileSync(lock, 'utf8'));
	const fits = ({ os, cpu }) =>
		(!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch));
	const files = Object.values(packages).filter(fits);
	return new Set(files.flatMap(({ integrity }) => integrity ?? [])).size;
}

/** Installs the packages, and prints how many of them have been fetched. */
async function fetchPackages(folder) {
	const total = filesToFetch(folder);
	const fetched = new Set();
	const onError = (chunk) => {
		for (const [file] of String(chunk).matchAll(/https?:\S+\.tgz/g)) fetched.add(file);
	};
	const howFar = () => {
		const of = total === null ? '' : ` of about ${total.toLocaleString('en-US')}`;
		return `${fetched.size.toLocaleString('en-US')}${of}, `;
	};
	const failed = `n8n ${n8nVersion(release)} could not be installed`;
	const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
	const args = [total === null ? 'install' : 'ci', ...flags, '--loglevel=http'];
	const install = async () => await npmIn(folder, failed, args, { onError });
	await withProgress('Fetching the packages', install, howFar);
}

function nativePackages(folder) {
	return nativeCandidates.filter((name) => existsSync(join(folder, 'node_modules', name)));
}

/** Builds the native packages for the Node.js that n8n will run on, with the headers of that Node.js. */
async function buildNative(folder, { node, headers }) {
	const env = {
		PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
		...(headers && existsSync(join(headers, 'include')) && { npm_config_nodedir: headers }),
	};
	const packages = nativePackages(folder);
	const args = ['rebuild', '--ignore-scripts=false', ...packages];
	const headline = `${packages.join(' and ')} could not be built; python3, make and g++ are needed`;
	await npmIn(folder, headline, args, { env });
}

async function requireWorking(folder, node) {
	const check = `for (const name of ${JSON.stringify(nativePackages(folder))}) require(name);`;
	const loaded = await run(node, ['-e', check], { cwd: folder });
	if (loaded.code !== 0) throw new Error(`n8n's native packages do not load:\n${loaded.stderr}`);
	const n8n = join('node_modules', 'n8n', 'bin', 'n8n');
	const { stdout, stderr } = await run(node, [n8n, '--version'], { cwd: folder });
	if (stdout.trim().split('\n').at(-1) === n8nVersion(release)) return;
	throw new Error(`n8n does not start:\n${stderr || stdout}`);
}

/** Removes the files of installers that were killed, which are those whose process no longer exists. */
async function removeLeftovers(folder) {
	const prefix = `${basename(folder)}.partial-`;
	for (const entry of await readdir(dirname(folder))) {
		if (!entry.startsWith(prefix) || isRunning(Number(entry.slice(prefix.length)))) continue;
		await rm(join(dirname(folder), entry), { recursive: true, force: true });
	}
}

function isRunning(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error.code === 'EPERM';
	}
}

/** Installs in a temporary folder and then moves it to its final place, so that a partial one is never used. */
async function install(folder) {
	const started = Date.now();
	const partial = `${folder}.partial-${process.pid}`;
	await mkdir(dirname(folder), { recursive: true });
	await requireSpace(dirname(folder));
	await removeLeftovers(folder);
	await rm(folder, { recursive: true, force: true });
	say(`Installing n8n ${n8nVersion(release)} into ${folder}.`);
	say('  It downloads about 0.8 GB, takes 3 GB of disk space and some minutes, and happens once.');
	try {
		await mkdir(partial);
		for (const file of packageFiles(release)) await copyFile(file, join(partial, basename(file)));
		await fetchPackages(partial);
		const found = findNode(partial);
		await withProgress('Building native packages', () => buildNative(partial, found));
		await withProgress('Trying it', () => requireWorking(partial, found.node));
		const node = found.headers ? found.node.slice(partial.length + 1) : found.node;
		await writeFile(
			join(partial, stampFile),
			JSON.stringify({ version: n8nVersion(release), node }),
		);
		await moveInto(partial, folder);
	} catch (error) {
		// Programs that npm has started may still write for a moment.
		await rm(partial, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		throw error;
	}
	say(`  Installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

async function moveInto(partial, folder) {
	try {
		await rename(partial, folder);
	} catch (error) {
		// Another installer finished first. Its result is equivalent.
		if (!existsSync(join(folder, stampFile))) throw error;
		await rm(partial, { recursive: true, force: true });
	}
}

/** Returns the installation, or null if there is none or its Node.js no longer exists. */
function readInstallation(folder) {
	const stamp = join(folder, stampFile);
	if (!existsSync(stamp)) return null;
	const { version, node: recorded } = JSON.parse(readFileSync(stamp, 'utf8'));
	const node = join(folder, recorded);
	const n8n = join(folder, 'node_modules', 'n8n', 'bin', 'n8n');
	const found = { folder, node: existsSync(node) ? node : recorded, n8n, version };
	return existsSync(found.node) && existsSync(n8n) ? found : null;
}

try {
	const folder = installationFolder(release);
	if (!readInstallation(folder)) await install(folder);
	process.stdout.write(`${JSON.stringify(readInstallation(folder))}\n`);
} catch (error) {
	say(`\n${error.message}`);
	process.exitCode = 1;
}
