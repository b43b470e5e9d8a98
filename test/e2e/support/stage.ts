import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../../sandbox/server';
import type { Sandbox, SandboxOptions } from '../../../sandbox/server';
import { installPackage } from '../../../tools/n8n/community-package';
import { Rest } from '../../../tools/n8n/rest';
import type { Credential, Owner, Workflow, WorkflowFile } from '../../../tools/n8n/rest';
import { startN8n, startWorker } from '../../../tools/n8n/server';
import type { N8n, N8nOptions } from '../../../tools/n8n/server';
import { Executions } from '../../../tools/n8n/executions';
import { Backing } from './queue';
import { outputFolder, surroundings } from './surroundings';
import type { SharedN8n } from './surroundings';
import { invite, owner } from './users';

export { owner };

/** Options for a stage. */
export interface StageOptions {
	/** Also used as the name of its log folder in `output/e2e`. */
	name: string;
	/** Default: ten times faster than real time. */
	sandbox?: SandboxOptions;
	/** Number of workers in queue mode. By default n8n runs executions itself. */
	workers?: number;
	/** Settings of n8n. */
	env?: Record<string, string>;
}

/**
 * Settings that make n8n notice a lost worker within about 20 seconds instead of a minute. n8n also counts a worker as
 * lost, and fails its executions, if the worker's event loop is blocked for longer than the lock lasts.
 */
export const lossNoticedSoon = {
	QUEUE_WORKER_LOCK_DURATION: '15000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_STALLED_INTERVAL: '2000',
};

/** Both modes of n8n, for tests that kill it. */
export function bothModes(
	name: string,
	sandbox: SandboxOptions,
): Array<[mode: string, StageOptions]> {
	return [
		['regular', { name: `${name}-regular`, sandbox }],
		['queue', { name: `${name}-queue`, sandbox, workers: 2, env: lossNoticedSoon }],
	];
}

/** The service's sandbox and a real n8n beside it, with the packed nodes and a signed-in user. */
export class Stage {
	/** Folder for files to inspect after the tests. */
	readonly folder: string;
	/**
	 * Data folder of n8n and its workers while the stage is open. It is outside of the repository, because inside it
	 * the nodes would find the repository's n8n-workflow instead of the one of the n8n that loads them.
	 */
	data!: string;
	sandbox!: Sandbox;
	n8n!: N8n;
	/** The signed-in user. */
	user: Owner = owner;
	readonly workers: N8n[] = [];
	rest!: Rest;
	executions!: Executions;
	/** Of the sandbox's main account. */
	credential!: Credential;
	/** The services that queue mode needs, and the settings that connect n8n to them. */
	backing!: Backing;
	private queue: Record<string, string> = {};
	/** Functions that stop the started services. */
	private readonly begun: Array<() => Promise<void>> = [];

	private constructor(
		private readonly options: StageOptions,
		private readonly shared?: SharedN8n,
	) {
		this.folder = outputFolder(options.name);
	}

	/** Opens a stage with an n8n of its own. */
	static async open(options: StageOptions): Promise<Stage> {
		return await Stage.started(new Stage(options));
	}

	/**
	 * Opens a stage in the n8n that test files share, as a new user, who sees nothing of the other files. For files that
	 * neither end n8n nor need settings of it.
	 */
	static async share(options: Pick<StageOptions, 'name' | 'sandbox'>): Promise<Stage> {
		return await Stage.started(new Stage(options, surroundings().shared));
	}

	private static async started(stage: Stage): Promise<Stage> {
		try {
			await stage.start();
			return stage;
		} catch (error) {
			await stage.close();
			throw error;
		}
	}

	/**
	 * Saves a workflow. Its own nodes get the stage's credential, and other nodes get the credentials that they name.
	 */
	async save(file: WorkflowFile, ...others: Credential[]): Promise<Workflow> {
		return await this.rest.createWorkflow(file, this.credential, ...others);
	}

	/**
	 * Kills n8n and starts it again on its database, as after a crash.
	 *
	 * @returns the time of its end, in milliseconds since the Unix epoch
	 */
	async restart(): Promise<number> {
		await this.n8n.service.stop(0, 'SIGKILL');
		const diedAt = Date.now();
		this.n8n = await this.run(startN8n, 'n8n', this.queue);
		await this.signIn();
		return diedAt;
	}

	/**
	 * Kills the worker that runs an execution, and starts a new one in its place.
	 *
	 * @returns the time of its end, in milliseconds since the Unix epoch
	 */
	async replaceWorkerOf(execution: string): Promise<number> {
		const words = `Worker started execution ${execution} `;
		const index = this.workers.findIndex(({ service }) => service.output.includes(words));
		if (index < 0) throw new Error(`No worker has execution ${execution}`);
		return await this.replaceWorker(index);
	}

	/** Like `replaceWorkerOf`, by the number of the worker. */
	async replaceWorker(index: number): Promise<number> {
		await this.workers[index].service.stop(0, 'SIGKILL');
		const diedAt = Date.now();
		this.workers[index] = await this.run(startWorker, `worker-${index + 1}`, this.queue);
		return diedAt;
	}

	/** Stops everything that the stage has started, in reverse order. The logs stay. */
	async close(): Promise<void> {
		for (const end of this.begun.splice(0).reverse()) await end();
	}

	private async start(): Promise<void> {
		await rm(this.folder, { recursive: true, force: true });
		await mkdir(this.folder, { recursive: true });
		this.sandbox = await this.openSandbox();
		if (this.shared) await this.join(this.shared);
		else await this.startN8n();
		const service = { baseUrl: this.sandbox.url, apiKey: this.sandbox.keys.main };
		const name = 'Media Generation account';
		this.credential = await this.rest.saveCredential(name, 'mediaGenerationApi', service);
	}

	private async join({ url }: SharedN8n): Promise<void> {
		this.n8n = {
			url,
			get service(): never {
				throw new Error('This n8n belongs to all test files.');
			},
		};
		this.user = await invite(url, this.options.name);
		await this.signIn();
	}

	private async startN8n(): Promise<void> {
		this.data = await mkdtemp(join(tmpdir(), 'media-generation-'));
		this.begun.push(async () => await rm(this.data, { recursive: true, force: true }));
		const { workers = 0 } = this.options;
		if (workers > 0) this.queue = await this.startBacking();
		this.n8n = await this.run(startN8n, 'n8n', this.queue);
		for (let number = 1; number <= workers; number++) {
			this.workers.push(await this.run(startWorker, `worker-${number}`, this.queue));
		}
		await this.signIn();
	}

	/** The file with the output of n8n. */
	get log(): string {
		return this.shared?.log ?? join(this.folder, 'n8n.log');
	}

	private async signIn(): Promise<void> {
		this.rest = new Rest(this.n8n.url);
		this.executions = new Executions(this.rest);
		await this.rest.signIn(this.user);
	}

	private async openSandbox(): Promise<Sandbox> {
		const file = createWriteStream(join(this.folder, 'sandbox.log'));
		const log = (line: string) => file.write(`${line}\n`);
		const sandbox = await startSandbox({ timeScale: 10, log, ...this.options.sandbox });
		this.begun.push(async () => await sandbox.close());
		return sandbox;
	}

	private async startBacking(): Promise<Record<string, string>> {
		this.backing = await Backing.start(this.folder);
		this.begun.push(async () => await this.backing.stop());
		return { ...this.backing.env, N8N_ENCRYPTION_KEY: randomBytes(24).toString('hex') };
	}

	/** Starts an n8n or a worker, which ends together with the stage. */
	private async run(
		start: (options: N8nOptions) => Promise<N8n>,
		name: string,
		queue: Record<string, string>,
	): Promise<N8n> {
		const env = { ...queue, ...this.options.env };
		const n8n = await start(await n8nIn(this, name, env));
		this.begun.push(async () => await n8n.service.stop());
		return n8n;
	}
}

/** Returns the options for an n8n or a worker: its own data folder, which contains the packed package. */
async function n8nIn(
	{ folder, data }: Stage,
	name: string,
	env: Record<string, string>,
): Promise<N8nOptions> {
	const { installation, tarball, shared } = surroundings();
	const userFolder = join(data, name);
	// With another database, n8n also has another encryption key than the template.
	const isLikeTemplate = shared !== undefined && env.DB_TYPE === undefined;
	if (!existsSync(userFolder)) {
		if (isLikeTemplate) await cp(shared.template, userFolder, { recursive: true });
		else await installPackage(tarball, userFolder);
	}
	return { installation, userFolder, logFile: join(folder, `${name}.log`), env };
}
