// npm run sandbox: runs only the service, until Ctrl-C.
import { keyNames } from './accounts/accounts';
import { commandLine, explain, optionsFrom, say } from './command-line';
import type { Values } from './command-line';
import { startSandbox } from './server';
import type { Sandbox } from './server';

function introduce(sandbox: Sandbox): void {
	say(`Service  ${sandbox.url}  (open in a browser)`);
	say(`Storage  ${sandbox.storageUrl}`);
	say(`MCP      ${sandbox.url}/mcp  (with an API key, or by signing in)`);
	say('Keys');
	for (const name of keyNames) say(`  ${name.padEnd(17)}${sandbox.keys[name]}`);
	say('');
}

async function main(): Promise<void> {
	const sandbox = await startSandbox(optionsFrom(commandLine().parse().opts<Values>()));
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
