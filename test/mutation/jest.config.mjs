import { fileURLToPath } from 'node:url';

import all from '../../jest.config.js';

/** Folders of tests below `test/`, separated by spaces. */
const { MUTATION_TESTS: folders = 'client nodes' } = process.env;

/** The tests of the rules in virtual time. Tests that play thousands of schedules take too long to run per change. */
export default {
	...all.projects[0],
	rootDir: '../..',
	testEnvironment: fileURLToPath(new URL('until-one-fails.mjs', import.meta.url)),
	testTimeout: 30_000,
	testMatch: folders.split(' ').map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
	testPathIgnorePatterns: ['/test/client/[^/]+\\.property\\.', '/test/client/saboteurs\\.'],
};
