import { existsSync, readFileSync } from 'node:fs';

/**
 * Jest's totals; a test file that does not even load counts as one failure.
 *
 * @param {string} file that jest has written, or not
 */
export function readTotals(file) {
	if (!existsSync(file)) return { passed: 0, failed: 0, files: [] };
	const results = JSON.parse(readFileSync(file, 'utf8'));
	const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
	return { passed: results.numPassedTests, failed, files: results.testResults };
}
