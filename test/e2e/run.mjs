// Usage: node test/e2e/run.mjs [name of a test file] [options of jest], also available as `npm run test:e2e`
// Installs the dependencies of the tests in a real n8n, runs them, and prints how many passed.
import { join } from 'node:path';

import { ensureDependenciesOrExit } from '../../tools/dependencies.mjs';
import { root, seconds } from '../../tools/run.mjs';
import { ensureProgramsOrExit } from './programs.mjs';
import { checkTypes, folder, runSuite } from './suite.mjs';

const started = Date.now();
await ensureDependenciesOrExit();
await ensureDependenciesOrExit(folder);
const programs = await ensureProgramsOrExit();
if (!(await checkTypes())) process.exit(1);
const { ok, passed, failed } = await runSuite('jest.config.js', {
	output: join(root, 'output', 'e2e'),
	args: process.argv.slice(2),
	env: { MEDIA_E2E_PROGRAMS: JSON.stringify(programs) },
});
console.log(`\nEnd-to-end tests: ${seconds(Date.now() - started)} in all`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = ok ? 0 : 1;
