/** Jest's own runner of a test file, which also measures the processor time of the file, in seconds. */
const { AsyncLocalStorage } = require('node:async_hooks');

const runFile = require('jest-circus/runner').default;

/**
 * Jest uses a storage for each test file and never disables it. As long as one is enabled, each promise takes longer: after
 * a hundred files, several times as long.
 */
const enabled = new Set();
const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args) {
	enabled.add(this);
	return run.apply(this, args);
};

module.exports = async (...args) => {
	const before = process.cpuUsage();
	const result = await runFile(...args);
	for (const storage of enabled) storage.disable();
	enabled.clear();
	const { user, system } = process.cpuUsage(before);
	return { ...result, processorSeconds: (user + system) / 1e6 };
};
