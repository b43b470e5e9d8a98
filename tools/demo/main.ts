// npm run demo: creates an image and a video with the nodes, locally and without an account.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { runCommand, say } from '../command';
import { commandLine } from './options';
import type { DemoOptions } from './options';

const root = resolve(__dirname, '../..');

/** Loads the demo after the first line is printed, because loading n8n's engine takes a while. */
function loadDemo() {
	const load = createRequire(__filename);
	const { runDemo } = load('./demo') as typeof import('./demo');
	const { report } = load('./report') as typeof import('./report');
	return { runDemo, report };
}

void runCommand<DemoOptions>(commandLine(root), 3_000, async (options, signal) => {
	say(
		'Creates an image and a video with the nodes of this package, on this machine and without an account.\n',
	);
	const { runDemo, report } = loadDemo();
	report(await runDemo(root, options, say, signal)).forEach(say);
});
