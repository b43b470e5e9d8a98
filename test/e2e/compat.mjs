// npm run test:compat [-- <release>] [options of jest]
// Runs the compatibility tests on each older release of n8n, and prints how many passed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';

import { n8nVersion } from '../../tools/n8n/releases/place.mjs';

/** The older releases that `tools/n8n/releases` pins. */
const releases = readdirSync('tools/n8n/releases', { withFileTypes: true })
	.filter((entry) => entry.isDirectory() && entry.name !== 'current')
	.map(({ name }) => name);
/** Both the same and the different behavior. */
const files = ['**/test/e2e/{nodes,retry,stop}.test.ts', '**/test/e2e/older/*.test.ts'];

const { resolve } = createRequire(import.meta.url);
const args = process.argv.slice(2);
const chosen = releases.includes(args[0]) ? [args.shift()] : releases;
const total = { passed: 0, failed: 0 };
for (const release of chosen) {
	console.log(`\nn8n ${n8nVersion(release)}`);
	mkdirSync(`output/compat/${release}`, { recursive: true });
	const file = `output/compat/${release}/jest.json`;
	rmSync(file, { force: true });
	const options = [
		...args,
		'--config',
		resolve('./jest.config.js'),
		'--json',
		'--outputFile',
		file,
	];
	const command = [resolve('jest/bin/jest'), ...options, '--testMatch', ...files];
	const env = { ...process.env, MEDIA_E2E_RELEASE: release };
	const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', env });
	if (status !== 0) process.exitCode = 1;
	if (!existsSync(file)) break;
	const results = JSON.parse(readFileSync(file, 'utf8'));
	total.passed += results.numPassedTests;
	total.failed += results.numFailedTests + results.numRuntimeErrorTestSuites;
}
console.log(`\nOn n8n ${chosen.map(n8nVersion).join(', ')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
