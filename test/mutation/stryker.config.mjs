// npm run test:mutation [-- --mutate 'client/watch/*.ts']
// Changes what ships in every place, one at a time, and looks whether a test of its rules notices. Texts are left out.
export default {
	testRunner: 'jest',
	jest: { configFile: 'test/mutation/jest.config.mjs', enableFindRelatedTests: false },
	coverageAnalysis: 'perTest',
	mutate: ['client/**/*.ts', 'nodes/shared/*.ts'],
	mutator: { excludedMutations: ['StringLiteral'] },
	// What is made when a module is loaded would need a process for each.
	ignoreStatic: true,
	disableTypeChecks: true,
	// It would look for a TypeScript of its own to read it with.
	tsconfigFile: 'none',
	ignorePatterns: ['dist', 'output'],
	tempDirName: 'output/mutation/tmp',
	reporters: ['progress-append-only', 'clear-text', 'json'],
	clearTextReporter: { logTests: false, reportTests: false },
	jsonReporter: { fileName: 'output/mutation/report.json' },
	// Changed code may wait for ever: virtual time has no end.
	timeoutMS: 7000,
	timeoutFactor: 1.5,
};
