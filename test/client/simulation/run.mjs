// node test/client/simulation/run.mjs [options of check.ts], which is `npm run proof`
// The payment proof as one compiled file, which runs a fifth faster than file by file.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

import { root, run } from '../../../tools/run.mjs';

/** Stack traces of expected errors would take minutes, and frequent collections of young objects some seconds. */
const quickly = ['--stack-trace-limit=0', '--max-semi-space-size=64'];

const output = join(root, 'output');
await mkdir(output, { recursive: true });
const folder = await mkdtemp(join(output, 'proof-'));
const outfile = join(folder, 'check.cjs');
const entryPoints = [join(root, 'test', 'client', 'simulation', 'check.ts')];
try {
	await build({ entryPoints, outfile, bundle: true, platform: 'node', logLevel: 'error' });
	const args = [...quickly, outfile, ...process.argv.slice(2)];
	process.exitCode = (await run(process.execPath, args)).code;
} finally {
	await rm(folder, { recursive: true, force: true });
}
