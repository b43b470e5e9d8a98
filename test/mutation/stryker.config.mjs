// README.md has the command.
// Changes the shipped code in one place at a time and checks whether a test detects it. Skips string literals.
import { fileURLToPath } from 'node:url';

import all from '../../jest.config.js';

/** Folders of tests below `test/`, separated by spaces. */
const { MUTATION_TESTS: folders = 'client nodes' } = process.env;

/** The tests of the rules in virtual time. Tests that play thousands of schedules take too long to run per change. */
const tests = {
	...all.projects[0],
	projects: [],
	testEnvironment: fileURLToPath(new URL('until-one-fails.mjs', import.meta.url)),
	testTimeout: 30_000,
	testMatch: folders.split(' ').map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
	testPathIgnorePatterns: ['/test/client/saboteurs\\.'],
};

export default {
	testRunner: 'jest',
	jest: { config: tests, enableFindRelatedTests: false },
	coverageAnalysis: 'perTest',
	mutate: ['client/**/*.ts', 'nodes/shared/**/*.ts'],
	mutator: { excludedMutations: ['StringLiteral'] },
	// Each change to code that runs when a module is loaded would need a separate process.
	ignoreStatic: true,
	disableTypeChecks: true,
	// To read a tsconfig file, Stryker would look for its own copy of TypeScript.
	tsconfigFile: 'none',
	ignorePatterns: ['dist', 'output'],
	tempDirName: 'output/mutation/tmp',
	reporters: ['progress-append-only', 'clear-text', 'json'],
	clearTextReporter: { logTests: false, reportTests: false },
	jsonReporter: { fileName: 'output/mutation/report.json' },
	// Changed code may wait forever, because virtual time has no end.
	timeoutMS: 7000,
	timeoutFactor: 1.5,
};
