/** Run by run.mjs, which installs what these tests need. Two files at once: each has an n8n for itself, and mostly waits. */
module.exports = {
	testEnvironment: 'node',
	transform: { '^.+\\.ts$': '@swc/jest' },
	testMatch: ['<rootDir>/*.test.ts'],
	globalSetup: '<rootDir>/support/setup.ts',
	testTimeout: 180_000,
	maxWorkers: 2,
};
