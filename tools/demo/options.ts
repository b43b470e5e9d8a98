import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What can be different from a plain `npm run demo`. */
export interface DemoOptions {
	/** Of the service and of its storage; 0 takes a free one. */
	port: number;
	storagePort: number;
	/** Divides the times that generations take. */
	timeScale: number;
	/** The folder that the picture and the video go into. */
	output: string;
	help: boolean;
}

/** What `--help` shows. */
export const usage = `Usage: npm run demo -- [options]
  --port <number>          port of the service (a free one)
  --storage-port <number>  port of the files it makes (a free one)
  --time-scale <number>    how much faster than life generations are made (10)
  --output <folder>        where the picture and the video go (output)
  --help                   this text`;

const flags = {
	port: { type: 'string', default: '0' },
	'storage-port': { type: 'string', default: '0' },
	'time-scale': { type: 'string', default: '10' },
	output: { type: 'string', default: 'output' },
	help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Throws a sentence that says what is wrong with it. */
export function readOptions(args: string[], root: string): DemoOptions {
	const { values } = parseArgs({ args, options: flags });
	const timeScale = Number(values['time-scale']);
	if (!(timeScale > 0)) throw new Error('--time-scale must be a number above 0.');
	return {
		port: portOf('port', values.port),
		storagePort: portOf('storage-port', values['storage-port']),
		timeScale,
		output: resolve(root, values.output),
		help: values.help,
	};
}

function portOf(name: string, text: string): number {
	if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
	throw new Error(`--${name} must be a whole number from 0 to 65535.`);
}
