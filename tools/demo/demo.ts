/** The whole demo: the example workflow in n8n's engine, against the sandbox. */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { BookEntry } from '../../sandbox/books/books';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { buildNodes, isBuilt } from '../build';
import { createEngine, readWorkflow } from '../engine';
import type { Run, WorkflowJson } from '../engine';
import { saveFiles } from './files';
import type { SavedFile } from './files';
import type { DemoOptions } from './options';
import { Timeline, seconds } from './timeline';
import { Stopped, Trouble, orTrouble, portTrouble, throwIfStopped } from '../trouble';

/** Path of the demo's workflow, relative to the package folder. */
export const exampleFile = join('examples', 'main.json');

/** Chosen for its colors. It determines the IDs, times and pictures of the sandbox. */
const sandboxSeed = 1;

/** Prevents an n8n that hangs from blocking the demo. */
const timeoutMs = 300_000;

/** Prints a line for the user. */
type Say = (line: string) => void;

/** The result of the demo. */
export interface DemoResult {
	files: SavedFile[];
	/** The service's books: what was really charged. */
	generations: BookEntry[];
	/** The account's credits before and after the demo. */
	before: number;
	after: number;
}

/**
 * Builds the nodes if they have changed, runs the example and saves its files. Leaves no processes, open ports or
 * temporary files behind. Throws `Trouble` for errors that the user can fix, and `Stopped` after a stop.
 */
export async function runDemo(
	root: string,
	options: DemoOptions,
	say: Say,
	signal: AbortSignal,
): Promise<DemoResult> {
	throwIfStopped(signal);
	makeFolder(options.output);
	// Opened before the build, so that a taken port is reported immediately.
	const sandbox = await openSandbox(options);
	try {
		await build(root, say, signal);
		return await runExample(root, options, sandbox, say, signal);
	} finally {
		await sandbox.close();
	}
}

function makeFolder(folder: string): void {
	orTrouble(folder, '--output', () => {
		mkdirSync(folder, { recursive: true });
		accessSync(folder, constants.W_OK);
	});
}

async function build(root: string, say: Say, signal: AbortSignal): Promise<void> {
	if (await isBuilt(root)) return say('The nodes in dist/ are up to date.');
	throwIfStopped(signal);
	say('Building the nodes ...');
	const begun = performance.now();
	await buildNodes(root, signal);
	say(`Built dist/ in ${seconds(performance.now() - begun)}.`);
}

async function openSandbox({ port, storagePort, timeScale }: DemoOptions): Promise<Sandbox> {
	try {
		return await startSandbox({ port, storagePort, timeScale, seed: sandboxSeed });
	} catch (error) {
		throw portTrouble(error, '--port', '--storage-port');
	}
}

async function runExample(
	root: string,
	options: DemoOptions,
	sandbox: Sandbox,
	say: Say,
	signal: AbortSignal,
): Promise<DemoResult> {
	const workflow = readWorkflow(join(root, exampleFile));
	const nodes = nodeNames(workflow);
	const account = sandbox.service.accounts.account('main');
	const before = account.balance;
	say(`Service at ${sandbox.url}: local, made-up credits, ${options.timeScale} times real speed.`);
	say(`Running ${exampleFile} in n8n's engine:\n`);

	const timeline = new Timeline(say, nodes, signal);
	const engine = await createEngine({ nodes: 'dist', packageDir: root, log: timeline.log });
	const endWatch = timeline.watch(sandbox.books);
	try {
		const credential = { baseUrl: sandbox.url, apiKey: sandbox.keys.main };
		const credentials = { mediaGenerationApi: credential };
		const run = await engine.run(workflow, { mode: 'manual', credentials, signal, timeoutMs });
		endWatch();
		throwIfStopped(signal);
		throwIfFailed(run);
		const files = await saveFiles(run, nodes, options.output);
		return { files, generations: sandbox.books.generations, before, after: account.balance };
	} finally {
		endWatch();
		await engine.close();
	}
}

function nodeNames({ nodes }: WorkflowJson): string[] {
	return nodes.filter(({ type }) => !type.endsWith('.stickyNote')).map(({ name }) => name);
}

function throwIfFailed({ status, error }: Run): void {
	if (status === 'success') return;
	if (status === 'canceled' && !error) throw new Stopped();
	const where = error && 'node' in error && error.node ? ` in "${error.node.name}"` : '';
	const reason = [error?.message, error?.description].filter(Boolean).join('\n');
	throw new Trouble(`The workflow ended with "${status}"${where}.\n\n${reason}`);
}

/** Returns a path relative to the current folder. */
export function shortPath(path: string): string {
	return relative(process.cwd(), path) || '.';
}
