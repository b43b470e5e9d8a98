import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startSandbox } from '../../../sandbox/server';
import type { Sandbox, SandboxOptions } from '../../../sandbox/server';
import { installPackage } from '../../../tools/n8n/community-package';
import { Rest } from '../../../tools/n8n/rest';
import type { Credential, Workflow, WorkflowFile } from '../../../tools/n8n/rest';
import { startN8n } from '../../../tools/n8n/server';
import type { N8n } from '../../../tools/n8n/server';
import { Executions } from './executions';
import { outputFolder, surroundings } from './surroundings';

export const owner = { email: 'owner@example.com', password: 'Sandbox-2026' };

/** How a stage is set. */
export interface StageOptions {
	/** Also the folder of its logs below `output/e2e`. */
	name: string;
	sandbox?: SandboxOptions;
	/** Settings of n8n. */
	env?: Record<string, string>;
}

/** The service's sandbox and a real n8n beside it, with the packed nodes and a signed-in owner. */
export class Stage {
	private constructor(
		readonly folder: string,
		readonly sandbox: Sandbox,
		readonly n8n: N8n,
		readonly rest: Rest,
		readonly executions: Executions,
		readonly credential: Credential,
	) {}

	static async open({ name, sandbox: sandboxOptions, env }: StageOptions): Promise<Stage> {
		const folder = outputFolder(name);
		await rm(folder, { recursive: true, force: true });
		await mkdir(folder, { recursive: true });
		const sandbox = await openSandbox(folder, sandboxOptions);
		try {
			const n8n = await startN8n(await n8nIn(folder, 'n8n', env));
			const rest = new Rest(n8n.url);
			await rest.signIn(owner);
			const credential = await rest.saveCredential(
				'Media Generation account',
				'mediaGenerationApi',
				{ baseUrl: sandbox.url, apiKey: sandbox.keys.main },
			);
			return new Stage(folder, sandbox, n8n, rest, new Executions(rest), credential);
		} catch (error) {
			await sandbox.close();
			throw error;
		}
	}

	/** Saves a workflow whose nodes have the stage's credential, and the others where they name them. */
	async save(file: WorkflowFile, ...others: Credential[]): Promise<Workflow> {
		return await this.rest.createWorkflow(file, this.credential, ...others);
	}

	/** Ends n8n with everything that it has started, and the sandbox; the logs stay. */
	async close(): Promise<void> {
		await this.n8n.service.stop();
		await this.sandbox.close();
	}
}

/** A sandbox whose log lies in the folder of a test; ten times faster than life by default. */
export async function openSandbox(folder: string, options: SandboxOptions = {}): Promise<Sandbox> {
	const log = createWriteStream(join(folder, 'sandbox.log'), { flags: 'a' });
	return await startSandbox({ timeScale: 10, log: (line) => log.write(`${line}\n`), ...options });
}

/** What an n8n or a worker starts with: a data folder of its own that holds the packed package. */
export async function n8nIn(folder: string, name: string, env: Record<string, string> = {}) {
	const { installation, tarball } = surroundings();
	const userFolder = join(folder, name);
	await installPackage(tarball, userFolder);
	return { installation, userFolder, logFile: join(folder, `${name}.log`), env };
}
