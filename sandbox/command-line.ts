/** The command line of `npm run sandbox`. */
import { Command } from 'commander';
import { KeptBooksError } from './books/kept-books';
import { factorFrom, fileFrom, numberFrom, portFrom } from './options';
import type { SandboxOptions } from './server';

/** The parsed command line. */
export interface Values
	extends Required<Pick<SandboxOptions, 'port' | 'storagePort' | 'timeScale'>> {
	urlLifetime: number;
	tokenLifetime: number;
	seed?: number;
	idempotency?: boolean;
	fetchInputs?: boolean;
	fetchLoopback?: boolean;
	keepIn?: string;
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
		.option('--url-lifetime <seconds>', 'how long a presigned URL is valid', numberFrom, 3600)
		.option(
			'--token-lifetime <seconds>',
			'how long an access token of a connected app is valid',
			numberFrom,
			3600,
		)
		.option('--seed <number>', 'the same seed gives the same ids and times (a new one)', numberFrom)
		.option('--idempotency', 'a second request with the same Idempotency-Key creates nothing')
		.option('--fetch-inputs', 'fetch the URLs in requests, and fail if that is not possible')
		.option('--fetch-loopback', 'the same, also from this machine')
		.option('--keep-in <file>', 'keep the books in this file for the next start', fileFrom)
		.option('--quiet', 'do not log requests');
}

/** Returns the options of the sandbox. */
export function optionsFrom(values: Values): SandboxOptions {
	const { urlLifetime, tokenLifetime, seed, idempotency, quiet, ...others } = values;
	const { fetchInputs, fetchLoopback, ...numbers } = others;
	return {
		...numbers,
		urlLifetimeSeconds: urlLifetime,
		accessTokenSeconds: tokenLifetime,
		seed: seed ?? Date.now() % 2 ** 31,
		honorsIdempotencyKeys: idempotency,
		fetchInputs: fetchInputs || fetchLoopback ? { loopback: fetchLoopback } : undefined,
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
	if (error instanceof KeptBooksError)
		return `${error.message} Choose another file with --keep-in.`;
	const code = 'code' in error ? error.code : undefined;
	return code === 'EADDRINUSE'
		? `A port is taken: ${error.message}. Choose others with --port and --storage-port.`
		: error.message;
}
