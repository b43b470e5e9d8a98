/** Everything that `npm start` starts: a real n8n with the packed nodes, the sandbox, and the stand-ins. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { buildNodes, isBuilt } from '../build';
import { openLog } from '../open-log';
import { portTrouble, throwIfStopped } from '../trouble';
import { installPackage, packPackage } from '../n8n/community-package';
import { ensureInstalled } from '../n8n/installation';
import type { Installation } from '../n8n/installation';
import { requirePort, usualPort } from '../n8n/ports';
import { Rest } from '../n8n/rest';
import { startN8n } from '../n8n/server';
import { proxyCertificate, startTlsProxy } from '../n8n/tls-proxy';
import type { TlsProxy } from '../n8n/tls-proxy';
import type { N8n } from '../n8n/server';
import { openStandIns } from '../stand-ins';
import type { StandInAccount } from '../stand-ins';
import { claimFolder, keptFiles } from './claim';
import { DataLock } from './lock';
import type { StartOptions } from './options';
import { keepSandboxPort, sandboxPorts } from './sandbox-port';
import { seed } from './seed';
import type { Seeded } from './seed';
import { reloading, watchNodes } from './watch';

/** The sandbox's books, beside n8n's data. */
const booksFile = 'sandbox-books.jsonl';

/** Returns the only folder that n8n may read and write files in. Files that users save there survive `--forget`. */
export function filesFolder(data: string): string {
	return join(data, 'files');
}

/** How long n8n can take to end before it is killed. */
const stopPatienceMs = 2_500;

/** The running services, and a function that ends them. */
export interface Started {
	n8n: N8n;
	sandbox: Sandbox;
	workflows: Seeded[];
	standIns: StandInAccount[];
	/** n8n's https address; `null` without the option. */
	https: string | null;
	/** Ends n8n with all its child processes, the sandbox and the stand-ins. */
	stop(): Promise<void>;
}

/** Prints a line for the user. */
type Say = (line: string) => void;

/**
 * Builds and packs the nodes, installs n8n if it is missing, starts everything and adds the credentials and examples.
 * If it fails or is stopped, ends everything that it started.
 */
export async function start(
	root: string,
	options: StartOptions,
	say: Say,
	signal: AbortSignal,
): Promise<Started> {
	claimFolder(options.data);
	const lock = new DataLock(options.data);
	const begun: Array<() => Promise<void>> = [async () => lock.release()];
	const stop = async () => {
		for (const end of begun.splice(0).reverse()) await end();
	};
	try {
		await requireN8nPort(options);
		if (options.forget) await forget(options.data);
		const sandbox = await openSandbox(options);
		begun.push(async () => await sandbox.close());
		const standIns = await openStandIns(join(options.data, 's3'));
		begun.push(async () => await standIns.close());
		const installation = await ensureInstalled('current', signal);
		await installNodes(root, options.data, say, signal);
		throwIfStopped(signal);
		await mkdir(filesFolder(options.data), { recursive: true });

		say('Starting n8n ...');
		const proxy = options.https ? await startTlsProxy() : null;
		if (proxy) begun.push(async () => await proxy.close());
		const n8n = await openN8n(options, installation, proxy, lock, signal);
		proxy?.passTo(n8n.url.replace('localhost', '127.0.0.1'));
		begun.push(async () => await n8n.service.stop(stopPatienceMs));
		throwIfStopped(signal);
		if (options.watch) begun.push(watchNodes(root, options.data));

		const { timeScale } = options;
		const service = { baseUrl: sandbox.url, apiKey: sandbox.keys.main, timeScale };
		const { accounts } = standIns;
		const workflows = await seed(new Rest(n8n.url), join(root, 'examples'), service, accounts);
		return { n8n, sandbox, workflows, standIns: accounts, https: proxy?.url ?? null, stop };
	} catch (error) {
		await stop();
		throwIfStopped(signal);
		throw error;
	}
}

/** Removes n8n's data and the sandbox's books together, because each refers to the other. */
async function forget(data: string): Promise<void> {
	for (const name of keptFiles) await rm(join(data, name), { recursive: true, force: true });
}

async function openSandbox(options: StartOptions): Promise<Sandbox> {
	try {
		const log = openLog(join(options.data, 'sandbox.log'));
		const sandbox = await startSandbox({
			...(await sandboxPorts(options)),
			timeScale: options.timeScale,
			seed: Date.now() % 2 ** 31,
			keepIn: join(options.data, booksFile),
			fetchInputs: { ca: proxyCertificate },
			log: (line) => log.write(`${line}\n`),
		});
		keepSandboxPort(options.data, sandbox.url);
		return sandbox;
	} catch (error) {
		throw portTrouble(error, '--sandbox-port', '--storage-port');
	}
}

async function installNodes(
	root: string,
	data: string,
	say: Say,
	signal: AbortSignal,
): Promise<void> {
	if (!(await isBuilt(root))) {
		say('Building the nodes ...');
		await buildNodes(root, signal);
	}
	await installPackage(await packPackage(root, data), data);
}

/** Checks the port before minutes of building and installing. */
async function requireN8nPort({ port }: StartOptions): Promise<void> {
	try {
		if (port !== undefined) await requirePort(port);
	} catch (error) {
		throw portTrouble(error, '--port');
	}
}

async function openN8n(
	{ port, data, watch }: StartOptions,
	installation: Installation,
	proxy: TlsProxy | null,
	lock: DataLock,
	signal: AbortSignal,
): Promise<N8n> {
	return await startN8n({
		installation,
		userFolder: data,
		port: port ?? (await usualPort(5678)),
		logFile: join(data, 'n8n.log'),
		env: {
			N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '1',
			N8N_RESTRICT_FILE_ACCESS_TO: filesFolder(data),
			...(proxy && { WEBHOOK_URL: proxy.url }),
			...(watch && reloading),
		},
		// A killed `npm start` leaves n8n running, also while it is still starting.
		onSpawn: (pid) => lock.add(pid),
		signal,
	});
}
