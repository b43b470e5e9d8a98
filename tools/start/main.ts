// npm start: a real n8n with the nodes, beside a sandbox of the service, on this machine alone.
import { relative, resolve } from 'node:path';
import { Stopped, Trouble } from '../demo/trouble';
import { stopSignal } from '../stop-signal';
import { readOptions, usage } from './options';
import type { StartOptions } from './options';
import { owner } from './seed';
import { start } from './start';
import type { Started } from './start';

const root = resolve(__dirname, '../..');

/** How long a stop may take before the process is ended in any case. */
const patienceMs = 3_500;

function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function complain(text: string): void {
	process.stderr.write(`\n${text}\n`);
}

function optionsOrExit(): StartOptions {
	try {
		return readOptions(process.argv.slice(2), root);
	} catch (error) {
		complain(`${error instanceof Error ? error.message : 'Bad options.'}\n\n${usage}`);
		process.exit(2);
	}
}

function introduce({ n8n, sandbox, workflows }: Started, { data }: StartOptions): void {
	const width = Math.max(...workflows.map(({ name }) => name.length));
	say(`
n8n      ${n8n.url}
         sign in as ${owner.email} with the password ${owner.password}
Sandbox  ${sandbox.url}  what the service was asked for and what it charged
Examples`);
	for (const { id, name } of workflows) {
		say(`  ${name.padEnd(width)}  ${n8n.url}/workflow/${id}`);
	}
	say(`
The credential "Media Generation account" leads to the sandbox: made-up credits, no account needed.
Everything is kept in ${relative(process.cwd(), data) || '.'}. Ctrl-C ends it all.`);
}

async function main(): Promise<void> {
	const options = optionsOrExit();
	if (options.help) return say(usage);
	const signal = stopSignal(patienceMs);
	try {
		const started = await start(root, options, say, signal);
		introduce(started, options);
		await Promise.race([aborted(signal), started.n8n.service.ended]);
		const { exit, output } = started.n8n.service;
		await started.stop();
		if (!signal.aborted) throw new Trouble(`n8n ended with ${exit}.\n\n${output.slice(-2000)}`);
		say('\nStopped. Nothing is left running.');
	} catch (error) {
		if (error instanceof Stopped) return say('\nStopped. Nothing is left running.');
		complain(error instanceof Trouble ? error.message : String((error as Error)?.stack ?? error));
		process.exitCode = 1;
	}
}

async function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

void main();
