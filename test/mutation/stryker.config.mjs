// README.md has the command.
// Changes the shipped code in one place at a time and checks whether a test detects it. Skips string literals.
export default {
	testRunner: 'jest',
	jest: { configFile: 'test/mutation/jest.config.mjs', enableFindRelatedTests: false },
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
