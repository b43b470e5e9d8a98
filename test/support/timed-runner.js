/** Jest's own runner of a test file, which also measures the processor time of the file, in seconds. */
const runFile = require('jest-circus/runner').default;

module.exports = async (...args) => {
	const before = process.cpuUsage();
	const result = await runFile(...args);
	const { user, system } = process.cpuUsage(before);
	return { ...result, processorSeconds: (user + system) / 1e6 };
};
