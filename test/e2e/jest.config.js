/** Used by run.mjs, which installs the dependencies of these tests. */
module.exports = {
	testEnvironment: 'node',
	transform: { '^.+\\.ts$': '@swc/jest' },
	testMatch: ['<rootDir>/*.test.ts'],
	globalSetup: '<rootDir>/support/setup.ts',
	testSequencer: '<rootDir>/long-first.mjs',
	// This only ends a test that hangs: a slow machine must not fail a test.
	testTimeout: 600_000,
	// Each file starts its own n8n and mostly waits, so four files keep two cores busy.
	maxWorkers: 4,
};
