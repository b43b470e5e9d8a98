/** A reporter of Jest: the last line is the result. A test file that cannot be loaded counts as one failure. */
module.exports = class Totals {
	onRunComplete(_, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		// Jest's own summary comes after all reporters.
		process.once('exit', () => console.log(`\n${numPassedTests} passed, ${failed} failed`));
	}
};
