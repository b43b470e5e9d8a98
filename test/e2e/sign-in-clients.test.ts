/** The sandbox's sign-in with OAuth clients that are not MCP's own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSandbox } from '../../sandbox/server';

const run = promisify(execFile);

it.each(['127.0.0.1', 'localhost'])(
	'oauth4webapi signs in through %s by each method',
	async (host) => {
		const sandbox = await startSandbox();
		try {
			const { port } = new URL(sandbox.url);
			const script = join(__dirname, 'support', 'oauth4webapi.ts');
			// A separate program, because jest cannot load the client.
			const { stdout } = await run(process.execPath, [
				'--import',
				'tsx',
				script,
				`http://${host}:${port}/mcp`,
			]);
			expect(JSON.parse(stdout)).toEqual([
				{ asked: null, method: 'client_secret_basic', balance: 100_000, afterwards: 401 },
				{
					asked: 'client_secret_basic',
					method: 'client_secret_basic',
					balance: 100_000,
					afterwards: 401,
				},
				{
					asked: 'client_secret_post',
					method: 'client_secret_post',
					balance: 100_000,
					afterwards: 401,
				},
				{ asked: 'none', method: 'none', balance: 100_000, afterwards: 401 },
			]);
		} finally {
			await sandbox.close();
		}
	},
);
