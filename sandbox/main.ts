import { parseArgs } from 'node:util';
import { keyNames } from './accounts/accounts';
import { startSandbox } from './server';
import type { Sandbox, SandboxOptions } from './server';

const usage = `Usage: npm run sandbox -- [options]
  --port <number>          port of the service (8787)
  --storage-port <number>  port of the presigned URLs (8788)
  --time-scale <number>    divides generation times: 10 makes 20 s take 2 s (1)
  --url-lifetime <seconds> how long a presigned URL lives (3600)
  --token-lifetime <seconds> how long an access token of a connected app is good (3600)
  --seed <number>          the same seed gives the same ids and times (a new one each start)
  --idempotency            a second request with the same Idempotency-Key makes nothing new
  --quiet                  no line a request
  --help                   this text`;

const flags = {
	port: { type: 'string', default: '8787' },
	'storage-port': { type: 'string', default: '8788' },
	'time-scale': { type: 'string', default: '1' },
	'url-lifetime': { type: 'string', default: '3600' },
	'token-lifetime': { type: 'string', default: '3600' },
	seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
	idempotency: { type: 'boolean', default: false },
	quiet: { type: 'boolean', default: false },
	help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values'];

function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

function numberOf(name: string, text: string): number {
	const number = Number(text);
	if (text === '' || !(number >= 0)) throw new Error(`--${name} must be a number.`);
	return number;
}

function optionsFrom(values: Values): SandboxOptions {
	const timeScale = numberOf('time-scale', values['time-scale']);
	if (timeScale === 0) throw new Error('--time-scale must be above 0.');
	return {
		port: numberOf('port', values.port),
		storagePort: numberOf('storage-port', values['storage-port']),
		timeScale,
		urlLifetimeSeconds: numberOf('url-lifetime', values['url-lifetime']),
		accessTokenSeconds: numberOf('token-lifetime', values['token-lifetime']),
		seed: numberOf('seed', values.seed),
		honoursIdempotencyKeys: values.idempotency,
		log: values.quiet ? false : say,
	};
}

function introduce(sandbox: Sandbox): void {
	say(`Service  ${sandbox.url}  (a page for people is at /)`);
	say(`Storage  ${sandbox.storageUrl}`);
	say(`MCP      ${sandbox.url}/mcp  (with a key, or signing in)`);
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
	const { values } = parseArgs({ options: flags });
	if (values.help) return say(usage);
	const sandbox = await startSandbox(optionsFrom(values));
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
