import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ensureDependencies } from './dependencies.mjs';
import { root } from './run.mjs';

/** The package that contains n8n's scan. The scan is too large to be installed with every clone. */
const home = join(root, 'test', 'e2e');
const scanner = join(home, 'node_modules', '@n8n', 'scan-community-package', 'scanner');

/**
 * Runs the rules of n8n's scan, which decides about verification. The scan's command line only accepts packages that
 * are on npm, but this function also scans one that is not published yet. Unlike `npm run lint`, the scan ignores
 * comments that disable rules, and it also checks the compiled code.
 *
 * @param {string} packed folder of the unpacked tarball
 * @param {string} source folder of the repository
 * @returns {Promise<{ packed: string | null, source: string | null }>} the violations in each
 */
export async function scan(packed, source) {
	await ensureDependencies(home);
	const { href } = pathToFileURL(join(scanner, 'scanner.mjs'));
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await import(href);
	const failureOf = async (folder, patterns) => {
		const { passed, message, details } = await analyzePackage(folder, patterns);
		return passed ? null : [message, details].filter(Boolean).join('\n');
	};
	return {
		packed: await failureOf(packed, ['**/*.js', 'package.json']),
		source: await failureOf(source, SOURCE_FILE_PATTERNS),
	};
}
