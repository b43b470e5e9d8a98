// Usage: node test/e2e/compat.mjs [release] [options of jest], also available as `npm run test:compat`
// Runs the compatibility tests on each older release of n8n, and prints how many passed.
import { join } from 'node:path';

import { ensureDependenciesOrExit } from '../../tools/dependencies.mjs';
import { n8nVersion } from '../../tools/n8n/releases/place.mjs';
import { root, seconds } from '../../tools/run.mjs';
import { checkTypes, folder, runSuite } from './suite.mjs';

const releases = ['last-1', 'first-2', 'first-tables'];

const args = process.argv.slice(2);
const chosen = releases.includes(args[0]) ? [args.shift()] : releases;
const started = Date.now();
await ensureDependenciesOrExit();
await ensureDependenciesOrExit(folder);
if (!(await checkTypes())) process.exit(1);
const suites = [];
for (const release of chosen) {
	console.log(`\nn8n ${n8nVersion(release)}`);
	const output = join(root, 'output', 'compat', release);
	const env = { MEDIA_E2E_RELEASE: release };
	suites.push(await runSuite('jest.compat.config.mjs', { output, args, env }));
}
const total = (what) => suites.reduce((sum, suite) => sum + suite[what], 0);
const versions = chosen.map(n8nVersion).join(', ');
console.log(`\nOn n8n ${versions}: ${seconds(Date.now() - started)} in all`);
console.log(`\n${total('passed')} passed, ${total('failed')} failed`);
process.exitCode = suites.every(({ ok }) => ok) ? 0 : 1;
