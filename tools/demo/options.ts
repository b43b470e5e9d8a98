import { Command, Option } from 'commander';
import { portFrom } from '../../sandbox/options';
import { folderOption, timeScaleOption } from '../command';

/** The options of `npm run demo`. */
export interface DemoOptions {
	/** Ports of the service and of its storage. 0 selects a free one. */
	port: number;
	storagePort: number;
	/** Divides generation times. */
	timeScale: number;
	/** The folder for the picture and the video. */
	output: string;
}

/** Returns the parser of `npm run demo`, which produces `DemoOptions`. Relative folders are resolved against `root`. */
export function commandLine(root: string): Command {
	const port = (flag: string, what: string) =>
		new Option(`${flag} <number>`, what).argParser(portFrom(0)).default(0, 'a free one');
	return new Command('npm run demo --')
		.addOption(port('--port', 'port of the service'))
		.addOption(port('--storage-port', 'port of the files it makes'))
		.addOption(timeScaleOption())
		.addOption(folderOption('--output', 'where the picture and the video go', root, 'output'));
}
