import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readTotals } from '../../tools/jest-totals.mjs';
import { run } from '../../tools/run.mjs';

/** The folder of these tests. */
export const folder = fileURLToPath(new URL('.', import.meta.url));

/** Whether the tests are sound TypeScript: jest itself does not look. */
export async function checkTypes() {
	return (await run('tsgo', ['-p', folder])).code === 0;
}

/**
 * Runs the tests that a configuration of jest names.
 *
 * @param {string} config a file of this folder
 * @param {{ output: string, args: string[], env?: Record<string, string> }} options
 *   `output` is the folder where jest leaves its results, `args` are more of jest's own
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
