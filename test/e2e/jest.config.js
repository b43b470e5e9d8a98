/** `npm run test:e2e`: the packed package in a real n8n. */
const { projects } = require('../../jest.config.js');

const [{ testEnvironment, transform }] = projects;

module.exports = {
	testEnvironment,
	transform,
	testMatch: ['<rootDir>/*.test.ts'],
	globalSetup: '<rootDir>/support/setup.ts',
	globalTeardown: '<rootDir>/support/teardown.ts',
	testSequencer: '<rootDir>/long-first.js',
	reporters: ['default', '<rootDir>/../support/totals.js'],
	// This only ends a test that hangs: a slow machine must not fail a test.
	testTimeout: 1_200_000,
	// The long files mostly wait, and start first: together, while two cores have time for something else.
	maxWorkers: 6,
};
