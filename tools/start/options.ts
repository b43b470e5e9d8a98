import { Command } from 'commander';
import { portFrom } from '../../sandbox/options';
import { folderOption, timeScaleOption } from '../command';

/** The options of `npm start`. */
export interface StartOptions {
	/** Ports of n8n, the sandbox and its storage. Default: the usual port, or a free one if it is taken. */
	port?: number;
	sandboxPort?: number;
	storagePort?: number;
	/** Divides generation times. */
	timeScale: number;
	/** The folder for all of n8n's data. */
	data: string;
	/** Compiles and reloads the nodes when their files change. */
	watch?: boolean;
	/** Gives n8n an https address, from which the sandbox fetches files of items. */
	https?: boolean;
	/** First removes what earlier starts have kept. */
	forget?: boolean;
}

/** Returns the parser of `npm start`, which produces `StartOptions`. Relative folders are resolved against `root`. */
export function commandLine(root: string): Command {
	return new Command('npm start --')
		.option('--port <number>', 'port of n8n (5678, or a free one)', portFrom(1))
		.option(
			'--sandbox-port <number>',
			"port of the service's sandbox (8787, or a free one)",
			portFrom(1),
		)
		.option(
			'--storage-port <number>',
			'port of the files it makes (8788, or a free one)',
			portFrom(1),
		)
		.addOption(timeScaleOption())
		.option('--watch', 'compile and reload the nodes when their files change')
		.option('--https', 'give n8n an https address, for videos that start from a file')
		.option('--forget', 'first delete what earlier starts have kept, in n8n and in the sandbox')
		.addOption(folderOption('--data', 'where n8n keeps everything', root, 'output/n8n'));
}
