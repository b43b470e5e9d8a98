import { Command, Option } from 'commander';
import { portFrom } from '../../sandbox/options';
import { folderOption, timeScaleOption } from '../command';

/** What can be different from a plain `npm run demo`. */
export interface DemoOptions {
	/** Of the service and of its storage; 0 takes a free one. */
	port: number;
	storagePort: number;
	/** Divides the times that generations take. */
	timeScale: number;
	/** The folder that the picture and the video go into. */
	output: string;
}

/** The command line of `npm run demo`, which gives `DemoOptions`; a relative folder is one of `root`. */
export function commandLine(root: string): Command {
	const port = (flag: string, what: string) =>
		new Option(`${flag} <number>`, what).argParser(portFrom(0)).default(0, 'a free one');
	return new Command('npm run demo --')
		.addOption(port('--port', 'port of the service'))
		.addOption(port('--storage-port', 'port of the files it makes'))
		.addOption(timeScaleOption())
		.addOption(folderOption('--output', 'where the picture and the video go', root, 'output'));
}
