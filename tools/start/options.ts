import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { factorFrom, portFrom } from '../../sandbox/options';

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
	const folder = (text: string) => resolve(root, text);
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
		.option(
			'--time-scale <number>',
			'how much faster than life generations are made',
			factorFrom,
			10,
		)
		.addOption(
			new Option('--data <folder>', 'where n8n keeps everything')
				.argParser(folder)
				.default(folder('output/n8n'), 'output/n8n'),
		);
}
