// npm start: a real n8n with the nodes, beside a sandbox of the service, on this machine alone.
import { relative, resolve } from 'node:path';
import { runCommand, say } from '../command';
import { Stopped, Trouble } from '../trouble';
import { commandLine } from './options';
import type { StartOptions } from './options';
import { owner } from './seed';
import { start } from './start';
import type { Started } from './start';

const root = resolve(__dirname, '../..');

function introduce({ n8n, sandbox, workflows }: Started, { data }: StartOptions): void {
	const width = Math.max(...workflows.map(({ name }) => name.length));
	say(`
n8n      ${n8n.url}
         sign in as ${owner.email} with the password ${owner.password}
Sandbox  ${sandbox.url}  what it has made and charged, and all keys
         API key ${sandbox.keys.main}
Examples`);
	for (const { id, name } of workflows) {
		say(`  ${name.padEnd(width)}  ${n8n.url}/workflow/${id}`);
	}
	say(`
The credential "Media Generation account" leads to the sandbox: made-up credits, no account needed.
"Media Generation sign-in" is yours to connect: open it in n8n, press Connect, and allow it.
Everything is kept in ${relative(process.cwd(), data) || '.'}. Ctrl-C ends it all.`);
}

async function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

void runCommand<StartOptions>(commandLine(root), 3_500, async (options, signal) => {
	const started = await start(root, options, say, signal);
	introduce(started, options);
	await Promise.race([aborted(signal), started.n8n.service.ended]);
	const { exit, output } = started.n8n.service;
	await started.stop();
	if (signal.aborted) throw new Stopped();
	throw new Trouble(`n8n ended with ${exit}.\n\n${output.slice(-2000)}`);
});
