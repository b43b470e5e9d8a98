/** Run by run.mjs, which installs what these tests need. One after another: each has n8n for itself. */
module.exports = {
	testEnvironment: 'node',
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: '<rootDir>/tsconfig.json' }] },
	testMatch: ['<rootDir>/*.test.ts'],
	globalSetup: '<rootDir>/support/setup.ts',
	testTimeout: 180_000,
	maxWorkers: 1,
};
