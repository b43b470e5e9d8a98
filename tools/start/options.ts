import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What can be different from a plain `npm start`. */
export interface StartOptions {
	/** Of n8n, and of the sandbox and its storage; `null` takes the usual one, or else a free one. */
	port: number | null;
	sandboxPort: number | null;
	storagePort: number | null;
	/** Divides the times that generations take. */
	timeScale: number;
	/** The folder that n8n keeps everything in. */
	data: string;
	help: boolean;
}

/** What `--help` shows. */
export const usage = `Usage: npm start -- [options]
  --port <number>          port of n8n (5678, or a free one)
  --sandbox-port <number>  port of the service's sandbox (8787, or a free one)
  --storage-port <number>  port of the files it makes (8788, or a free one)
  --time-scale <number>    how much faster than life generations are made (10)
  --data <folder>          where n8n keeps everything (output/n8n)
  --help                   this text`;

const flags = {
	port: { type: 'string' },
	'sandbox-port': { type: 'string' },
	'storage-port': { type: 'string' },
	'time-scale': { type: 'string', default: '10' },
	data: { type: 'string', default: 'output/n8n' },
	help: { type: 'boolean', default: false },
} as const;

/** Reads the command line. Throws a sentence that says what is wrong with it. */
export function readOptions(args: string[], root: string): StartOptions {
	const { values } = parseArgs({ args, options: flags });
	const timeScale = Number(values['time-scale']);
	if (!(timeScale > 0)) throw new Error('--time-scale must be a number above 0.');
	return {
		port: portOf('port', values.port),
		sandboxPort: portOf('sandbox-port', values['sandbox-port']),
		storagePort: portOf('storage-port', values['storage-port']),
		timeScale,
		data: resolve(root, values.data),
		help: values.help,
	};
}

function portOf(name: string, text: string | undefined): number | null {
	if (text === undefined) return null;
	const port = Number(text);
	if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
	throw new Error(`--${name} must be a whole number from 1 to 65535.`);
}
