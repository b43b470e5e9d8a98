import { fileURLToPath } from 'node:url';

import all from '../../jest.config.js';

/** Folders of tests, below `test/` and parted by spaces. */
const { MUTATION_TESTS: folders = 'client nodes' } = process.env;

/** The rules in virtual time, without the thousands of schedules, which take longer than a change is worth. */
export default {
	...all.projects[0],
	rootDir: '../..',
	testEnvironment: fileURLToPath(new URL('until-one-fails.mjs', import.meta.url)),
	testTimeout: 30_000,
	testMatch: folders.split(' ').map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
	testPathIgnorePatterns: ['/test/client/[^/]+\\.property\\.', '/test/client/mutations\\.'],
};
