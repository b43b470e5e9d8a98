import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = join(
	__dirname,
	'../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

/**
 * Runs MCP's conformance suite until it ends. Its exit code is not used: it also counts the scenarios that do not apply.
 *
 * @param onLine receives each line that it prints
 */
export async function runConformance(
	args: readonly string[],
	onLine?: (line: string) => Promise<void>,
): Promise<void> {
	const onNode20 = join(__dirname, 'conformance-on-node-20.mjs');
	const suite = spawn(process.execPath, ['--import', onNode20, program, ...args], {
		stdio: ['ignore', 'pipe', 'inherit'],
		// The suite looks for proxies in the environment. Everything runs on this machine.
		env: { ...process.env, NO_PROXY: '*', no_proxy: '*' },
	});
	const ended = new Promise((resolve, reject) => {
		suite.once('error', reject);
		suite.once('close', resolve);
	});
	try {
		for await (const line of createInterface({ input: suite.stdout })) await onLine?.(line.trim());
		await ended;
	} finally {
		suite.kill();
	}
}
