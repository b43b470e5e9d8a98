// npm start: a real n8n with the nodes, and a sandbox of the service, on this machine only.
import { relative, resolve } from 'node:path';
import { runCommand, say } from '../command';
import { Stopped, Trouble } from '../trouble';
import { banner } from './banner';
import { commandLine } from './options';
import type { StartOptions } from './options';
import { start } from './start';

const root = resolve(__dirname, '../..');

async function aborted(signal: AbortSignal): Promise<void> {
	if (signal.aborted) return;
	await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

void runCommand<StartOptions>(commandLine(root), 3_500, async (options, signal) => {
	const started = await start(root, options, say, signal);
	say(banner(started, relative(process.cwd(), options.data) || '.'));
	await Promise.race([aborted(signal), started.n8n.service.ended]);
	const { exit, output } = started.n8n.service;
	await started.stop();
	if (signal.aborted) throw new Stopped();
	throw new Trouble(`n8n ended with ${exit}.\n\n${output.slice(-2000)}`);
});
