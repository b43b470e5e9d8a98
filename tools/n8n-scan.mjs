import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ensureDependencies } from './dependencies.mjs';
import { root } from './run.mjs';

/** The package that brings n8n's scan, which is too large to be installed with every clone. */
const home = join(root, 'test', 'e2e');
const scanner = join(home, 'node_modules', '@n8n', 'scan-community-package', 'scanner');

/**
 * Runs the rules of n8n's own scan, which decides about verification. Its command line only takes
 * packages that are on npm; this hands it one that is not yet. Other than `npm run lint` it ignores
 * comments that disable rules, and looks at the compiled code too.
 *
 * @param {string} unpacked folder of the unpacked tarball
 * @returns {Promise<string[]>} what it would refuse, in the source and in what is published
 */
export async function scan(unpacked) {
	await ensureDependencies(home);
	const { href } = pathToFileURL(join(scanner, 'scanner.mjs'));
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await import(href);
	const results = [
		await analyzePackage(root, SOURCE_FILE_PATTERNS),
		await analyzePackage(unpacked, ['**/*.js', 'package.json']),
	];
	return results
		.filter(({ passed }) => !passed)
		.map(({ message, details }) => [message, details].filter(Boolean).join('\n'));
}
