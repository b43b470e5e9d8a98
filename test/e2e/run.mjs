// node test/e2e/run.mjs [name of a test file] [options of jest], which is `npm run test:e2e`
// Installs what the tests in a real n8n need, runs them, and says how many passed.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ensureDependenciesOrExit } from '../../tools/dependencies.mjs';
import { root, run, seconds } from '../../tools/run.mjs';
import { ensureProgramsOrExit } from './programs.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
const output = join(root, 'output', 'e2e');
const resultsFile = join(output, 'jest.json');

async function runTests(programs, args) {
	mkdirSync(output, { recursive: true });
	rmSync(resultsFile, { force: true });
	const types = await run('tsc', ['-p', folder]);
	if (types.code !== 0) return types.code;
	const env = { MEDIA_E2E_PROGRAMS: JSON.stringify(programs) };
	const config = join(folder, 'jest.config.js');
	const options = ['--config', config, '--json', `--outputFile=${resultsFile}`];
	const { code } = await run('jest', [...options, ...args], { env });
	return code;
}

/** Jest's totals; a test file that does not even load counts as one failure. */
function readTotals() {
	if (!existsSync(resultsFile)) return { passed: 0, failed: 0 };
	const results = JSON.parse(readFileSync(resultsFile, 'utf8'));
	const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = results;
	return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
}

const started = Date.now();
await ensureDependenciesOrExit();
await ensureDependenciesOrExit(folder);
const programs = await ensureProgramsOrExit();
const code = await runTests(programs, process.argv.slice(2));
const { passed, failed } = readTotals();
if (code !== 0 && passed + failed === 0) console.log('\nNo test has run.');
if (code !== 0) console.log(`\nWhat n8n and the sandbox have logged is in ${output}.`);
console.log(`\nEnd-to-end tests: ${seconds(Date.now() - started)} in all`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = code === 0 ? 0 : 1;
