import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackage } from '../../../tools/n8n/community-package';
import type { Installation } from '../../../tools/n8n/installation';
import { Rest } from '../../../tools/n8n/rest';
import { startN8n } from '../../../tools/n8n/server';
import { outputFolder } from './surroundings';
import type { SharedN8n } from './surroundings';
import { owner } from './users';

/** The strictest setting: by default no workflow may be called by another, unless it allows that. */
const env = { N8N_WORKFLOW_CALLER_POLICY_DEFAULT_OPTION: 'none' };

/** Starts the n8n that test files share, and makes a template of its folder while it is new. */
export async function openSharedN8n(
	installation: Installation,
	tarball: string,
): Promise<SharedN8n & { close: () => Promise<void> }> {
	const logs = outputFolder('shared');
	await rm(logs, { recursive: true, force: true });
	// Not inside the repository, see `Stage`.
	const folder = await mkdtemp(join(tmpdir(), 'media-generation-'));
	const userFolder = join(folder, 'n8n');
	const template = join(folder, 'template');
	await installPackage(tarball, userFolder);
	const log = join(logs, 'n8n.log');
	const { url, service } = await startN8n({ installation, userFolder, logFile: log, env });
	const close = async () => {
		await service.stop();
		await rm(folder, { recursive: true, force: true });
	};
	try {
		await new Rest(url).signIn(owner);
		await copyN8n(installation, userFolder, template);
		return { url, log, template, close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Copies the folder of a running n8n: its settings, its database and the installed package. */
async function copyN8n({ node }: Installation, from: string, to: string): Promise<void> {
	const [source, target] = [join(from, '.n8n'), join(to, '.n8n')];
	await mkdir(target, { recursive: true });
	for (const name of ['config', 'nodes']) {
		await cp(join(source, name), join(target, name), { recursive: true });
	}
	// Other than a copy of the file, this includes what n8n has written last.
	const script = `
		const { DatabaseSync } = require('node:sqlite');
		const [from, to] = process.argv.slice(1);
		new DatabaseSync(from, { timeout: 20_000 }).prepare('VACUUM INTO ?').run(to);`;
	const file = 'database.sqlite';
	await promisify(execFile)(node, ['-e', script, join(source, file), join(target, file)]);
}
