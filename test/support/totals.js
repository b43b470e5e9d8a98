/**
 * A reporter of Jest: the last line is the result. A test file that cannot be loaded counts as one failure. With the option
 * `processorSeconds`, it names the files that take longer. It does not count what else runs on the machine.
 */
module.exports = class Totals {
	constructor(_, { processorSeconds = Infinity } = {}) {
		this.budget = processorSeconds;
		this.slow = [];
	}

	onTestFileResult({ path }, { processorSeconds = 0 }) {
		if (processorSeconds > this.budget) this.slow.push({ path, processorSeconds });
	}

	onRunComplete(_, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		// Jest's own summary comes after all reporters.
		process.once('exit', () => {
			for (const { path, processorSeconds } of this.slow) {
				console.log(
					`${processorSeconds.toFixed(1)} s of processor time (budget: ${this.budget} s): ${path}`,
				);
			}
			console.log(`\n${numPassedTests} passed, ${failed} failed`);
		});
	}
};
