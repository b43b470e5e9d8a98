// npm run demo: makes a picture and a video with the nodes, on this machine and without an account.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { runCommand, say } from '../command';
import { commandLine } from './options';
import type { DemoOptions } from './options';

const root = resolve(__dirname, '../..');

/** Loaded after the first line is shown: n8n's engine takes a while. */
function loadDemo() {
	const load = createRequire(__filename);
	const { runDemo } = load('./demo') as typeof import('./demo');
	const { report } = load('./report') as typeof import('./report');
	return { runDemo, report };
}

void runCommand<DemoOptions>(commandLine(root), 3_000, async (options, signal) => {
	say(
		'A picture and a video by the nodes of this package, on this machine and without an account.\n',
	);
	const { runDemo, report } = loadDemo();
	report(await runDemo(root, options, say, signal)).forEach(say);
});
