import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keyNamed, keyNames } from './accounts/accounts';
import type { KeyName } from './accounts/accounts';
import type { Books } from './books/books';
import type { FaultQueue } from './faults';
import { bodyAsBytes, close, listen, serverWith } from './http/app';
import { addConnectedApps, connectedAppsPath } from './http/connected-apps';
import { addControlRoutes } from './http/control';
import { refuseForeignHost, refuseForeignOrigin } from './http/guard';
import { formatLine } from './http/log';
import type { LogLine } from './http/log';
import { addMcpRoutes } from './http/mcp';
import { addPreviews } from './http/previews';
import { addRestRoutes } from './http/rest';
import { addOAuthRoutes, oauthPaths } from './http/oauth';
import { addConsent } from './http/sign-in';
import { addStatusPage } from './http/status-page';
import { addStorageRoutes } from './http/storage';
import { MediaLibrary } from './media/library';
import { connectorPaths } from './oauth/connector';
import { consentPath, SignIn } from './oauth/sign-in';
import type { RequestLog } from './books/requests';
import { GenerationService } from './service';
import type { ServiceOptions } from './service';

export interface SandboxOptions extends Omit<ServiceOptions, 'storageOrigin'> {
	/** Ports of the service and of the storage. 0, the default, selects free ones. */
	port?: number;
	storagePort?: number;
	/** Delay of every response of the service in milliseconds. Default 0. */
	latencyMs?: number | (() => number);
	/** Called with one line per request. Default false: no log. */
	log?: ((line: string) => void) | false;
}

/** A running sandbox. */
export interface Sandbox {
	/** Origin of the service, without `/v1` and without a trailing slash. */
	readonly url: string;
	/** Origin of the presigned URLs. */
	readonly storageUrl: string;
	/** The API keys by name. */
	readonly keys: Readonly<Record<KeyName, string>>;
	readonly service: GenerationService;
	readonly books: Books;
	readonly requests: RequestLog;
	readonly faults: FaultQueue;
	readonly signIn: SignIn;
	/** Resets accounts, books, requests, faults and the seed. */
	reset(): void;
	/**
	 * Closes every connection to the service, and refuses new ones until the returned function is called. The storage
	 * stays available.
	 */
	leave(): Promise<() => Promise<void>>;
	/** Closes every connection and frees both ports. */
	close(): Promise<void>;
}

/**
 * Closes the server's port.
 *
 * @returns a function that opens it again
 */
async function leave(server: Server): Promise<() => Promise<void>> {
	const { address, port } = server.address() as AddressInfo;
	await close(server);
	return async () => void (await listen(server, address, port));
}

function logLineOf(log: SandboxOptions['log']): LogLine {
	if (!log) return () => undefined;
	return (logged) => log(formatLine(logged, new Date()));
}

const localhost = '127.0.0.1';

/**
 * Starts the service and its storage on two origins of this machine. If a port is taken, rejects with `EADDRINUSE` and
 * leaves nothing listening.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
	const { port = 0, storagePort = 0, latencyMs = 0 } = options;
	const service = new GenerationService(options);
	const signIn = new SignIn(service);
	const log = logLineOf(options.log);
	const library = new MediaLibrary();
	const rest = serverWith((app) => {
		// Before all other routes, so that a rejected request is not read. The REST interface accepts every origin
		// because it requires a key. The sign-in endpoints do too, because apps in a browser use them.
		const own = ['/', '/_sandbox/*rest', connectedAppsPath, consentPath, ...connectorPaths];
		app.all([...own, ...oauthPaths], refuseForeignHost);
		app.all(own, refuseForeignOrigin);
		addOAuthRoutes(app, signIn, log);
		app.use(bodyAsBytes);
		addMcpRoutes(app, service, signIn, log);
		addControlRoutes(app, service);
		addStatusPage(app, service);
		addPreviews(app, service, library);
		addConnectedApps(app, service);
		addConsent(app, service, signIn, log);
		addRestRoutes(app, service, log, typeof latencyMs === 'number' ? () => latencyMs : latencyMs);
	});
	const storage = serverWith((app) => addStorageRoutes(app, service, library, log));
	const closeAll = async (): Promise<void> => {
		await Promise.all([close(rest), close(storage), library.close()]);
	};
	try {
		const storageUrl = await listen(storage, localhost, storagePort);
		const url = await listen(rest, localhost, port);
		service.storageOrigin = storageUrl;
		const keys = Object.fromEntries(keyNames.map((name) => [name, keyNamed(name)])) as Record<
			KeyName,
			string
		>;
		const { books, requests, faults } = service;
		const reset = (): void => service.reset();
		return {
			url,
			storageUrl,
			keys,
			service,
			books,
			requests,
			faults,
			signIn,
			reset,
			leave: async () => await leave(rest),
			close: closeAll,
		};
	} catch (error) {
		await closeAll();
		throw error;
	}
}
