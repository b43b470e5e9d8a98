import all from '../../jest.config.js';

/** The rules in virtual time, without the thousands of schedules, which take longer than a change is worth. */
export default {
	...all.projects[0],
	rootDir: '../..',
	testTimeout: 30_000,
	testMatch: ['<rootDir>/test/{client,nodes}/**/*.test.ts'],
	testPathIgnorePatterns: ['/test/client/[^/]+\\.property\\.', '/test/client/mutations\\.'],
};
