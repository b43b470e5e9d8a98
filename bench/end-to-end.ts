import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '..');

/**
 * Runs an end-to-end test in a real n8n to collect the figures that it writes.
 *
 * @param env environment variables that make the test measure
 * @returns the contents of the files that the test wrote, by file name
 * @throws if the test fails
 */
export async function endToEnd(
	name: string,
	env: Record<string, string>,
): Promise<Map<string, unknown>> {
	const folder = join(root, 'output', 'e2e', name);
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const jest = [
		require.resolve('jest/bin/jest'),
		'--config',
		join('test', 'e2e', 'jest.config.js'),
	];
	const only = ['--testMatch', `**/test/e2e/${name}.{test,nightly}.ts`];
	const child = spawn(process.execPath, [...jest, ...only], {
		cwd: root,
		env: { ...process.env, ...env },
		stdio: 'inherit',
	});
	const code = await new Promise((done) => child.on('close', done));
	if (code !== 0) throw new Error(`The end-to-end test "${name}" has failed`);
	const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
	return new Map(
		files.map((file): [string, unknown] => [
			file.replace('.json', ''),
			JSON.parse(readFileSync(join(folder, file), 'utf8')),
		]),
	);
}
