import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { http } from '../http';
import type { Installation } from './installation';
import { freePorts } from './ports';
import { Service } from './service';

/** The options for starting n8n. */
export interface N8nOptions {
	installation: Installation;
	/** The folder for all of its data. No other files of the user are changed. */
	userFolder: string;
	/** Port of the editor and the REST API. Default: a free one. */
	port?: number;
	logFile: string;
	/** Additional environment variables, as in n8n's documentation. */
	env?: Record<string, string>;
	/** Receives the process id as soon as n8n has one, which is long before it is ready. */
	onSpawn?: (pid: number) => void;
	/** Stops n8n while it is starting. */
	signal?: AbortSignal;
}

/** A running n8n, or a worker of one. */
export interface N8n {
	/** Address without a trailing slash. For a worker, the address of its health check. */
	url: string;
	service: Service;
}

/** Only ends the wait for an n8n that hangs. Loading its code and creating a database can take minutes. */
const startTimeout = 300_000;
const host = '127.0.0.1';

/** Turns off telemetry, surveys, the download of templates and packages, and Python, which may be missing. */
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

/** Modules that send requests to n8n's vendor. */
const unwantedModules = ['mcp-registry', 'instance-ai', 'chat-hub'];

/** Returns the unwanted modules that this release has. n8n does not start if a name is unknown. */
function disabledModules({ n8n }: Installation): string {
	const modules = join(n8n, '..', '..', 'dist', 'modules');
	return unwantedModules.filter((name) => existsSync(join(modules, name))).join(',');
}

/** Variables of npm, Jest and the user's own n8n. Some of n8n's names have no prefix in common. */
const foreign = new RegExp(
	'^(N8N_|DB_|QUEUE_|EXECUTIONS_|NODES_(EXCLUDE|INCLUDE)$|NODE_FUNCTION_ALLOW_|WEBHOOK_URL$|GENERIC_TIMEZONE$|' +
		'CREDENTIALS_OVERWRITE_|EXTERNAL_HOOK_FILES$|EXTERNAL_FRONTEND_HOOKS_URLS$|NODE_ENV$|NODE_OPTIONS$|npm_|JEST_)',
	'i',
);

/** Returns the environment for n8n: ours, without the variables of npm, Jest and the user's own n8n. */
function inherited(): NodeJS.ProcessEnv {
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

async function start(
	name: string,
	command: string,
	{ installation, userFolder, logFile, env, onSpawn }: N8nOptions,
	settings: Record<string, string>,
): Promise<Service> {
	const [brokerPort] = await freePorts(1);
	const service = await Service.start({
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
	onSpawn?.(service.pid);
	return service;
}

async function answers(url: string): Promise<boolean> {
	try {
		return (await http.get(url, { timeout: 5_000 })).status === 200;
	} catch {
		return false;
	}
}

/** Waits until a service is ready. If that fails, stops it and rethrows the error. */
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

/** Starts n8n with its editor and REST API, and waits until it responds. */
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

/** Starts a worker that takes executions from the queue configured in `env`. */
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
