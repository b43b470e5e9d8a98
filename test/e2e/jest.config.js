/** Run by run.mjs, which installs what these tests need. */
module.exports = {
	testEnvironment: 'node',
	transform: { '^.+\\.ts$': '@swc/jest' },
	testMatch: ['<rootDir>/*.test.ts'],
	globalSetup: '<rootDir>/support/setup.ts',
	testSequencer: '<rootDir>/long-first.mjs',
	// A busy machine is no failure: this only ends a test that hangs.
	testTimeout: 600_000,
	// Each file has an n8n for itself, and mostly waits: three keep two cores busy.
	maxWorkers: 3,
};
