// Usage: node test/e2e/clients.mjs [options of jest], also available as `npm run test:clients`
// Runs older and newer releases of the clients that the service works with against the sandbox. Needs no n8n.
import { join } from 'node:path';

import { ensureDependenciesOrExit } from '../../tools/dependencies.mjs';
import { root } from '../../tools/run.mjs';
import { checkTypes, folder, runSuite } from './suite.mjs';

await ensureDependenciesOrExit();
await ensureDependenciesOrExit(folder);
if (!(await checkTypes())) process.exit(1);
const output = join(root, 'output', 'clients');
const args = process.argv.slice(2);
const { ok, passed, failed } = await runSuite('jest.clients.config.mjs', { output, args });
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = ok ? 0 : 1;
