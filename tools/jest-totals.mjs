import { existsSync, readFileSync } from 'node:fs';

/**
 * Returns Jest's totals. A test file that fails to load counts as one failure.
 *
 * @param {string} file Jest's results file, which may not exist
 */
export function readTotals(file) {
	if (!existsSync(file)) return { passed: 0, failed: 0, files: [] };
	const results = JSON.parse(readFileSync(file, 'utf8'));
	const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
	return { passed: results.numPassedTests, failed, files: results.testResults };
}
