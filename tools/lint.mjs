// node tools/lint.mjs [--fix]
// Applies n8n's rules to published code and our own to the rest, and checks the imports between modules.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { root, run } from './run.mjs';

const published = ['client', 'nodes', 'credentials'];
const tooling = ['sandbox', 'bench', 'tools', 'test'];
const options = process.argv.slice(2);

const commands = [
	// Not `n8n-node lint`: it applies n8n's rules to every folder, and takes no options for eslint.
	['eslint', '--max-warnings', '0', ...options, 'package.json', ...published],
	['oxlint', '--deny-warnings', '--config', 'tools/oxlint.json', ...options, ...tooling],
	// The rules are in `.dependency-cruiser.json`.
	['depcruise', ...published, ...tooling],
];

/** n8n's strict mode only accepts its own configuration at the root. */
function isDefaultConfiguration() {
	const template = ['@n8n', 'node-cli', 'dist', 'template', 'templates', 'shared', 'default'];
	const [own, expected] = [[], ['node_modules', ...template]].map((folder) =>
		readFileSync(join(root, ...folder, 'eslint.config.mjs'), 'utf8'),
	);
	if (own !== expected) console.error(`eslint.config.mjs has to be n8n's default:\n${expected}`);
	return own === expected;
}

async function lint() {
	if (!isDefaultConfiguration()) return 1;
	for (const [command, ...args] of commands) {
		const { code } = await run(command, args);
		if (code !== 0) return code;
	}
	return 0;
}

process.exitCode = await lint();
