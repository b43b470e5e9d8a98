import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { buildNodes } from '../../tools/build';
import { installPackage, packPackage } from '../../tools/n8n/community-package';
import { Executions } from '../../tools/n8n/executions';
import { ensureInstalled } from '../../tools/n8n/installation';
import type { Installation } from '../../tools/n8n/installation';
import { Rest } from '../../tools/n8n/rest';
import type { Credential } from '../../tools/n8n/rest';
import { startN8n } from '../../tools/n8n/server';
import type { N8n } from '../../tools/n8n/server';
import type { Approach } from './approaches';
import { buildExtension } from './extension';
import { openOpenAiAdapter } from './openai-adapter';
import type { OpenAiAdapter } from './openai-adapter';

const root = resolve(__dirname, '../..');
const folder = join(root, 'output', 'compare');
const extension = join(folder, 'extension');
const userFolder = join(folder, 'n8n');
const logFile = join(folder, 'n8n.log');
const owner = { email: 'owner@example.com', password: 'Sandbox-2026' };

/** An account of the service, and the n8n credential for it. */
export interface StageAccount {
	key: string;
	credential: Credential;
}

/** One service with both its own API and OpenAI's, and one real n8n with all compared nodes. */
export class Stage {
	n8n!: N8n;
	rest!: Rest;
	executions!: Executions;

	private constructor(
		readonly sandbox: Sandbox,
		private readonly adapter: OpenAiAdapter,
		readonly installation: Installation,
	) {}

	/** Builds and starts everything. The logs are in `output/compare`. */
	static async open(signal: AbortSignal): Promise<Stage> {
		const installation = await ensureInstalled('current', signal);
		await rm(folder, { recursive: true, force: true });
		await mkdir(folder, { recursive: true });
		await buildNodes(root, signal);
		await installPackage(await packPackage(root, folder), userFolder);
		await buildExtension(extension);
		const file = createWriteStream(join(folder, 'sandbox.log'));
		const sandbox = await startSandbox({ log: (line) => file.write(`${line}\n`) });
		const stage = new Stage(sandbox, await openOpenAiAdapter(sandbox.service), installation);
		try {
			await stage.startN8n();
			return stage;
		} catch (error) {
			await stage.close();
			throw error;
		}
	}

	/** Restarts n8n, so that its memory is that of a fresh process. */
	async restart(): Promise<void> {
		await this.n8n.service.stop();
		await this.startN8n();
	}

	/** Opens an account with this limit for one approach. */
	async openAccount(name: string, approach: Approach, concurrency: number): Promise<StageAccount> {
		const { accounts } = this.sandbox.service;
		accounts.addAccount({ name, concurrency });
		const { key } = accounts.addKey(name, { account: name });
		const data =
			approach.credential === 'openAiApi'
				? { apiKey: key, url: this.adapter.url }
				: { apiKey: key, baseUrl: this.sandbox.url };
		return { key, credential: await this.rest.saveCredential(name, approach.credential, data) };
	}

	/** Returns n8n's complete log. */
	async log(): Promise<string> {
		return await readFile(logFile, 'utf8');
	}

	/** Stops everything. */
	async close(): Promise<void> {
		await this.n8n?.service.stop();
		await this.adapter.close();
		await this.sandbox.close();
	}

	private async startN8n(): Promise<void> {
		const env = { N8N_CUSTOM_EXTENSIONS: extension };
		this.n8n = await startN8n({ installation: this.installation, userFolder, logFile, env });
		this.rest = new Rest(this.n8n.url);
		this.executions = new Executions(this.rest);
		await this.rest.signIn(owner);
	}
}
