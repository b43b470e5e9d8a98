// npm run demo: makes a picture and a video with the nodes, on this machine and without an account.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { stopSignal } from '../stop-signal';
import { readOptions, usage } from './options';
import type { DemoOptions } from './options';
import { Stopped, Trouble } from './trouble';

const root = resolve(__dirname, '../..');

/** How long a stop may take before the process is ended in any case. */
const patienceMs = 3_000;

function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function complain(text: string): void {
	process.stderr.write(`\n${text}\n`);
}

function optionsOrExit(): DemoOptions {
	try {
		return readOptions(process.argv.slice(2), root);
	} catch (error) {
		complain(`${error instanceof Error ? error.message : 'Bad options.'}\n\n${usage}`);
		process.exit(2);
	}
}

/** Loaded after the first line is shown: n8n's engine takes a while. */
function loadDemo() {
	const load = createRequire(__filename);
	const { runDemo } = load('./demo') as typeof import('./demo');
	const { report } = load('./report') as typeof import('./report');
	return { runDemo, report };
}

async function main(): Promise<void> {
	const options = optionsOrExit();
	if (options.help) return say(usage);
	const signal = stopSignal(patienceMs);
	say(
		'A picture and a video by the nodes of this package, on this machine and without an account.\n',
	);
	try {
		const { runDemo, report } = loadDemo();
		report(await runDemo(root, options, say, signal)).forEach(say);
	} catch (error) {
		if (error instanceof Stopped) return say('\nStopped. Nothing is left running.');
		complain(error instanceof Trouble ? error.message : String((error as Error)?.stack ?? error));
		process.exitCode = 1;
	}
}

void main();
