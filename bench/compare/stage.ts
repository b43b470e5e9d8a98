import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';

import { fingerprintOf } from '../../sandbox/accounts/accounts';
import type { BookEntry } from '../../sandbox/books/books';
import type { RequestRecord } from '../../sandbox/books/requests';
import { startSandbox, type Sandbox } from '../../sandbox/server';
import { buildNodes } from '../../tools/build';
import { installPackage, packPackage } from '../../tools/n8n/community-package';
import { errorOf, Executions, type Execution } from '../../tools/n8n/executions';
import { ensureInstalled } from '../../tools/n8n/installation';
import { Rest, type Workflow } from '../../tools/n8n/rest';
import { startN8n, type N8n } from '../../tools/n8n/server';
import { stopSignal } from '../../tools/stop-signal';
import { openOpenAiAdapter, type OpenAiAdapter } from './openai-adapter';
import { TRIGGER, workflowOf, type Approach } from './workflows';

const ROOT = resolve(__dirname, '../..');
const FOLDER = join(ROOT, 'output', 'compare');
const LOG = join(FOLDER, 'n8n.log');
const OWNER = { email: 'owner@example.com', password: 'Sandbox-2026' };
/** About the size of a real video of a few seconds. */
const USUAL_SIZE = '10MB';

/** How many videos a trial makes, how long the service takes for each, and the limit of the account. */
export interface VideoOrder {
	videos: number;
	seconds: number;
	limit: number;
	/** Size of a file, in the format of the sandbox's prompts. */
	size?: string;
}

/** One service with both its own API and OpenAI's, and one real n8n with all compared nodes. */
export class Stage {
	readonly rest: Rest;
	readonly executions: Executions;

	private constructor(
		readonly sandbox: Sandbox,
		readonly adapter: OpenAiAdapter,
		private n8n: N8n,
		private readonly start: (port?: number) => Promise<N8n>,
	) {
		this.rest = new Rest(n8n.url);
		this.executions = new Executions(this.rest);
	}

	/** Builds and starts everything. The logs are in `output/compare`. */
	static async open(): Promise<Stage> {
		const signal = stopSignal(0);
		const installation = await ensureInstalled('current', signal);
		const [extension, userFolder] = [join(FOLDER, 'extension'), join(FOLDER, 'n8n')];
		await rm(FOLDER, { recursive: true, force: true });
		await mkdir(extension, { recursive: true });
		await buildNodes(ROOT, signal);
		await installPackage(await packPackage(ROOT, FOLDER), userFolder);
		await buildExtension(extension);
		const file = createWriteStream(join(FOLDER, 'sandbox.log'));
		const sandbox = await startSandbox({ log: (line) => file.write(`${line}\n`) });
		const adapter = await openOpenAiAdapter(sandbox.service);
		try {
			const env = { N8N_CUSTOM_EXTENSIONS: extension };
			const start = async (port?: number) =>
				await startN8n({ installation, userFolder, logFile: LOG, env, port });
			const stage = new Stage(sandbox, adapter, await start(), start);
			await stage.rest.signIn(OWNER);
			return stage;
		} catch (error) {
			await Promise.all([adapter.close(), sandbox.close()]);
			throw error;
		}
	}

	/** Starts n8n again, with the same data and address, and the memory of a new process. */
	async restart(): Promise<void> {
		await this.n8n.service.stop();
		this.n8n = await this.start(Number(new URL(this.n8n.url).port));
	}

	/** Returns n8n's complete log. */
	async log(): Promise<string> {
		return await readFile(LOG, 'utf8');
	}

	/**
	 * Returns by how many bytes n8n's process grows at most while the work runs. Uses what Linux knows of it, so that no peak
	 * is missed.
	 */
	async growthDuring(work: () => Promise<void>): Promise<number> {
		const process = `/proc/${this.n8n.service.pid}`;
		const bytes = async (name: 'VmRSS' | 'VmHWM') => {
			const status = await readFile(join(process, 'status'), 'utf8');
			return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
		};
		// 5: the peak starts anew.
		await writeFile(join(process, 'clear_refs'), '5');
		const before = await bytes('VmRSS');
		await work();
		return (await bytes('VmHWM')) - before;
	}

	/** Stops everything. */
	async close(): Promise<void> {
		await this.n8n.service.stop();
		await this.adapter.close();
		await this.sandbox.close();
	}
}

/** Compiles the node that only this comparison uses into a folder for `N8N_CUSTOM_EXTENSIONS`. */
async function buildExtension(folder: string): Promise<void> {
	const source = join(__dirname, 'extension', 'SequentialVideo.node.ts');
	const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 };
	const { outputText } = transpileModule(await readFile(source, 'utf8'), { compilerOptions });
	await writeFile(join(folder, 'SequentialVideo.node.js'), outputText);
}

/** One approach with an account and a workflow of its own. */
export class Trial {
	private constructor(
		private readonly stage: Stage,
		private readonly workflow: Workflow,
		private readonly key: string,
		readonly name: string,
		readonly prompts: string[],
	) {}

	/** @param purpose distinguishes the trials of an approach */
	static async prepare(
		stage: Stage,
		approach: Approach,
		purpose: string,
		{ videos, seconds, limit, size = USUAL_SIZE }: VideoOrder,
	): Promise<Trial> {
		const name = `${approach.key} ${purpose}`;
		const { sandbox, rest, adapter } = stage;
		sandbox.service.accounts.addAccount({ name, concurrency: limit });
		const { key } = sandbox.service.accounts.addKey(name, { account: name });
		const address =
			approach.credential === 'openAiApi' ? { url: adapter.url } : { baseUrl: sandbox.url };
		const data = { apiKey: key, ...address };
		const credential = await rest.saveCredential(name, approach.credential, data);
		const tags = `[seconds: ${seconds}] [size: ${size}]`;
		const prompts = Array.from(
			{ length: videos },
			(_, index) => `${name}, video ${index + 1} of ${videos} ${tags}`,
		);
		const file = workflowOf(name, prompts, approach, sandbox.url);
		return new Trial(stage, await rest.createWorkflow(file, credential), key, name, prompts);
	}

	/** Starts the workflow and returns the id of the execution. */
	async start(): Promise<string> {
		return await this.stage.executions.run(this.workflow, TRIGGER);
	}

	async run(): Promise<Execution> {
		return await this.ended(await this.start());
	}

	/** Waits until an execution has ended, and returns it. */
	async ended(id: string): Promise<Execution> {
		return await this.stage.executions.ended(id, 3_600_000);
	}

	/** The generations that the account was charged for. */
	get generations(): BookEntry[] {
		return this.stage.sandbox.books.generations.filter(({ account }) => account === this.name);
	}

	/** The credits that the account was charged, minus refunds. */
	get credits(): number {
		return this.generations.reduce((sum, { charged, refunded }) => sum + charged - refunded, 0);
	}

	/** The requests with the account's key, and those for the files of its generations. */
	get requests(): RequestRecord[] {
		const fingerprint = fingerprintOf(this.key);
		const ids = new Set(this.generations.map(({ id }) => id));
		return this.stage.sandbox.requests.all.filter(
			({ keyFingerprint, origin, generationId }) =>
				keyFingerprint === fingerprint || (origin === 'storage' && ids.has(generationId ?? '')),
		);
	}

	/** @throws if a video was not downloaded, because then the figures cannot be compared */
	requireAll(execution: Execution): void {
		if (execution.status !== 'success') throw new Error(`${this.name}: ${errorOf(execution)}`);
		const downloads = this.requests.filter(({ on, status }) => on === 'download' && status === 200);
		const ids = new Set(downloads.map(({ generationId }) => generationId));
		if (ids.size === this.prompts.length) return;
		throw new Error(`${this.name}: ${ids.size} of ${this.prompts.length} videos were downloaded`);
	}
}
