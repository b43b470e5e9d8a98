// npm run sandbox: runs only the service, until Ctrl-C.
import { Command } from 'commander';
import { keyNames } from './accounts/accounts';
import { factorFrom, numberFrom, portFrom } from './options';
import { startSandbox } from './server';
import type { Sandbox, SandboxOptions } from './server';

const program = new Command('npm run sandbox --')
	.option('--port <number>', 'port of the service', portFrom(0), 8787)
	.option('--storage-port <number>', 'port of the presigned URLs', portFrom(0), 8788)
	.option('--time-scale <number>', 'divides generation times: 10 makes 20 s take 2', factorFrom, 1)
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
	.option('--fetch-loopback', 'with --fetch-inputs: also from this machine')
	.option('--keep-in <file>', 'keep the books in this file for the next start')
	.option('--quiet', 'do not log requests');

interface Values extends Required<Pick<SandboxOptions, 'port' | 'storagePort' | 'timeScale'>> {
	urlLifetime: number;
	tokenLifetime: number;
	seed?: number;
	idempotency?: boolean;
	fetchInputs?: boolean;
	fetchLoopback?: boolean;
	keepIn?: string;
	quiet?: boolean;
}

function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function optionsFrom(values: Values): SandboxOptions {
	const { urlLifetime, tokenLifetime, seed, idempotency, quiet, ...others } = values;
	const { fetchInputs, fetchLoopback, ...numbers } = others;
	return {
		...numbers,
		urlLifetimeSeconds: urlLifetime,
		accessTokenSeconds: tokenLifetime,
		seed: seed ?? Date.now() % 2 ** 31,
		honorsIdempotencyKeys: idempotency,
		fetchInputs: fetchInputs ? { loopback: fetchLoopback } : undefined,
		log: quiet ? false : say,
	};
}

function introduce(sandbox: Sandbox): void {
	say(`Service  ${sandbox.url}  (open in a browser)`);
	say(`Storage  ${sandbox.storageUrl}`);
	say(`MCP      ${sandbox.url}/mcp  (with an API key, or by signing in)`);
	say('Keys');
	for (const name of keyNames) say(`  ${name.padEnd(17)}${sandbox.keys[name]}`);
	say('');
}

function explain(error: unknown): string {
	if (!(error instanceof Error)) return 'The sandbox did not start.';
	const code = 'code' in error ? error.code : undefined;
	return code === 'EADDRINUSE'
		? `A port is taken: ${error.message}. Choose others with --port and --storage-port.`
		: error.message;
}

async function main(): Promise<void> {
	const sandbox = await startSandbox(optionsFrom(program.parse().opts<Values>()));
	const end = (): void => {
		void sandbox.close();
	};
	process.once('SIGINT', end);
	process.once('SIGTERM', end);
	introduce(sandbox);
}

main().catch((error: unknown) => {
	process.stderr.write(`${explain(error)}\n`);
	process.exitCode = 1;
});
