import { Command } from 'commander';
import { portFrom } from '../../sandbox/options';
import { folderOption, timeScaleOption } from '../command';

/** What can be different from a plain `npm start`. */
export interface StartOptions {
	/** Of n8n, and of the sandbox and its storage; without one the usual one is taken, or else a free one. */
	port?: number;
	sandboxPort?: number;
	storagePort?: number;
	/** Divides the times that generations take. */
	timeScale: number;
	/** The folder that n8n keeps everything in. */
	data: string;
}

/** The command line of `npm start`, which gives `StartOptions`; a relative folder is one of `root`. */
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
		.addOption(folderOption('--data', 'where n8n keeps everything', root, 'output/n8n'));
}
