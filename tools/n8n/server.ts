import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { http } from '../http';
import type { Installation } from './installation';
import { freePorts } from './ports';
import { Service } from './service';

/** How an n8n is started. */
export interface N8nOptions {
	installation: Installation;
	/** Where it keeps everything; nothing else of the user's is touched. */
	userFolder: string;
	/** Port of the editor and the interface. Default: a free one. */
	port?: number;
	logFile: string;
	/** More settings, by their names in n8n's documentation. */
	env?: Record<string, string>;
	/** Ends it again while it is not ready yet. */
	signal?: AbortSignal;
}

/** A running n8n, or a worker of one. */
export interface N8n {
	/** Without a slash at the end; of a worker, where it says that it is well. */
	url: string;
	service: Service;
}

const startTimeout = 120_000;
const host = '127.0.0.1';

/** No calls to n8n's makers, no questions to the user, and nothing that this machine may lack. */
const quiet = {
	N8N_DIAGNOSTICS_ENABLED: 'false',
	N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
	N8N_TEMPLATES_ENABLED: 'false',
	N8N_PERSONALIZATION_ENABLED: 'false',
	N8N_HIRING_BANNER_ENABLED: 'false',
	N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
	N8N_VERIFIED_PACKAGES_ENABLED: 'false',
	N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
	N8N_PYTHON_ENABLED: 'false',
	N8N_SECURE_COOKIE: 'false',
	N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '5',
	N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'false',
};

/** Parts of n8n that call its makers. */
const unwantedModules = ['mcp-registry', 'instance-ai', 'chat-hub'];

/** The unwanted modules that this release has: n8n does not start with an unknown name. */
function disabledModules({ n8n }: Installation): string {
	const modules = join(n8n, '..', '..', 'dist', 'modules');
	return unwantedModules.filter((name) => existsSync(join(modules, name))).join(',');
}

/** What of our environment n8n may see: nothing of npm's and jest's, nor of an n8n of the user's. */
function inherited(): NodeJS.ProcessEnv {
	const foreign = /^(N8N_|DB_|QUEUE_|EXECUTIONS_|NODE_ENV$|NODE_OPTIONS$|npm_|JEST_)/i;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

async function start(
	name: string,
	command: string,
	{ installation, userFolder, logFile, env }: N8nOptions,
	settings: Record<string, string>,
): Promise<Service> {
	const [brokerPort] = await freePorts(1);
	return await Service.start({
		name,
		command: installation.node,
		args: [installation.n8n, command],
		env: {
			...inherited(),
			...quiet,
			N8N_DISABLED_MODULES: disabledModules(installation),
			N8N_USER_FOLDER: userFolder,
			N8N_RUNNERS_BROKER_PORT: String(brokerPort),
			...settings,
			...env,
		},
		cwd: userFolder,
		logFile,
	});
}

async function answers(url: string): Promise<boolean> {
	try {
		return (await http.get(url, { timeout: 5_000 })).status === 200;
	} catch {
		return false;
	}
}

/** Stops what did not become ready, and hands its error on. */
async function ready(
	service: Service,
	check: () => Promise<boolean>,
	signal: AbortSignal | undefined,
): Promise<void> {
	try {
		await service.until(check, startTimeout, signal);
	} catch (error) {
		await service.stop(0);
		throw error;
	}
}

/** Starts n8n with its editor and interface, and waits until it answers. */
export async function startN8n(options: N8nOptions): Promise<N8n> {
	const port = options.port ?? (await freePorts(1))[0];
	const url = `http://localhost:${port}`;
	const service = await start('n8n', 'start', options, {
		N8N_PORT: String(port),
		N8N_LISTEN_ADDRESS: host,
		N8N_EDITOR_BASE_URL: url,
	});
	await ready(
		service,
		async () =>
			service.output.includes('Editor is now accessible') &&
			(await answers(`http://${host}:${port}/healthz/readiness`)),
		options.signal,
	);
	return { url, service };
}

/** Starts a worker, which takes its executions from the queue that `env` names. */
export async function startWorker(options: N8nOptions): Promise<N8n> {
	const [port] = await freePorts(1);
	const url = `http://${host}:${port}`;
	const service = await start('worker', 'worker', options, {
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
	});
	await ready(service, async () => await answers(`${url}/healthz/readiness`), options.signal);
	return { url, service };
}
