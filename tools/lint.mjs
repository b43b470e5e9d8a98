// node tools/lint.mjs [--fix]
// n8n's linter over everything, each folder with the configuration nearest to it, and a look at who imports whom.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { root, run } from './run.mjs';

const folders = ['client', 'nodes', 'credentials', 'sandbox', 'bench', 'tools', 'test'];

async function lintFiles() {
	// What tests and the demo leave behind, a whole n8n among it, is not ours to lint; the root's configuration,
	// which n8n wants to be its default, has no place to say so.
	mkdirSync(join(root, 'output'), { recursive: true });
	writeFileSync(
		join(root, 'output', 'eslint.config.mjs'),
		"export default [{ ignores: ['**/*'] }];\n",
	);

	// Without this flag eslint 9 takes the root's configuration for every folder.
	const env = { ESLINT_FLAGS: 'unstable_config_lookup_from_file' };
	const args = ['lint', ...process.argv.slice(2)];
	const { code, stdout, stderr } = await run('n8n-node', args, { env, output: 'tee' });

	// n8n-node passes nothing on to eslint, `--max-warnings` neither; so read eslint's own count.
	const warnings = Number(/(\d+) warnings?\)/.exec(stdout + stderr)?.[1] ?? 0);
	if (code === 0 && warnings > 0) console.error('Lint warnings are errors here.');
	return code === 0 && warnings > 0 ? 1 : code;
}

/** The rules are in `.dependency-cruiser.json`. eslint's own rule about circles does not see those of types. */
async function lintImports() {
	const { code } = await run('depcruise', folders);
	return code;
}

process.exitCode = (await lintFiles()) || (await lintImports());
