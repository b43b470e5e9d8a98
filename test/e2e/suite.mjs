import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readTotals } from '../../tools/jest-totals.mjs';
import { run } from '../../tools/run.mjs';

/** The folder of these tests. */
export const folder = fileURLToPath(new URL('.', import.meta.url));

/** Returns whether the tests pass the TypeScript check, which jest itself does not run. */
export async function checkTypes() {
	return (await run('tsgo', ['-p', folder])).code === 0;
}

/**
 * Runs the tests that a jest configuration selects.
 *
 * @param {string} config a file of this folder
 * @param {{ output: string, args: string[], env?: Record<string, string> }} options
 *   `output` is the folder where jest writes its results, `args` are additional arguments for jest
 * @returns {Promise<{ ok: boolean, passed: number, failed: number }>}
 */
export async function runSuite(config, { output, args, env }) {
	const results = join(output, 'jest.json');
	mkdirSync(output, { recursive: true });
	rmSync(results, { force: true });
	const options = ['--config', join(folder, config), '--json', `--outputFile=${results}`];
	const { code } = await run('jest', [...options, ...args], { env });
	const { passed, failed } = readTotals(results);
	if (code !== 0 && passed + failed === 0) console.log('\nNo test has run.');
	if (code !== 0) console.log(`\nWhat n8n and the sandbox have logged is in ${output}.`);
	return { ok: code === 0, passed, failed };
}
