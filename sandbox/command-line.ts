/** The command line of `npm run sandbox`. */
import { Command } from 'commander';
import { factorFrom, numberFrom, portFrom } from './options';
import type { SandboxOptions } from './server';

/** The parsed command line. */
export interface Values
	extends Required<Pick<SandboxOptions, 'port' | 'storagePort' | 'timeScale'>> {
	seed?: number;
	fetchInputs?: boolean;
	quiet?: boolean;
}

/** Returns the parser, which produces `Values`. */
export function commandLine(): Command {
	return new Command('npm run sandbox --')
		.option('--port <number>', 'port of the service', portFrom(0), 8787)
		.option('--storage-port <number>', 'port of the presigned URLs', portFrom(0), 8788)
		.option(
			'--time-scale <number>',
			'divides generation times: 10 makes 20 s take 2',
			factorFrom,
			1,
		)
		.option('--seed <number>', 'the same seed gives the same ids and times (a new one)', numberFrom)
		.option('--fetch-inputs', 'fetch the URLs in requests, and fail if that is not possible')
		.option('--quiet', 'do not log requests');
}

/** Returns the options of the sandbox. */
export function optionsFrom(values: Values): SandboxOptions {
	const { seed, fetchInputs, quiet, ...numbers } = values;
	return {
		...numbers,
		seed: seed ?? Date.now() % 2 ** 31,
		fetchInputs: fetchInputs ? {} : undefined,
		log: quiet ? false : say,
	};
}

/** Prints a line for the user. */
export function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

/** Returns what went wrong at the start, and which option to change. */
export function explain(error: unknown): string {
	if (!(error instanceof Error)) return 'The sandbox did not start.';
	const code = 'code' in error ? error.code : undefined;
	return code === 'EADDRINUSE'
		? `A port is taken: ${error.message}. Choose others with --port and --storage-port.`
		: error.message;
}
