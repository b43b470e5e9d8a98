/**
 * All tests, in two projects: rules in virtual time (`unit`), and nodes in the real n8n-core engine over HTTP (`engine`).
 * `npm test` runs the first ring of them, `npm run test:full` the second: see `test/rings/`.
 */

const { availableParallelism } = require('node:os');

require('./tools/no-proxy.cjs');

// Code must not depend on the machine's time zone. An offset with 45 minutes exposes code that does.
process.env.TZ = 'Asia/Kathmandu';

/** ts-jest compiles file by file. `npm run lint` checks the types. */
const tsconfig = {
	target: 'es2022',
	module: 'commonjs',
	moduleResolution: 'node10',
	esModuleInterop: true,
	resolveJsonModule: true,
	isolatedModules: true,
	sourceMap: true,
};

/** The packages that our own code imports in engine tests. */
const loadedOnce = [
	'n8n-core',
	'n8n-workflow',
	'@n8n',
	'@modelcontextprotocol',
	'@napi-rs',
	'axios',
	'commander',
	'express',
	'fast-check',
];

const shared = {
	rootDir: __dirname,
	testEnvironment: 'node',
	testRunner: '<rootDir>/test/support/timed-runner.js',
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig, diagnostics: false }] },
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/output/'],
	setupFiles: ['<rootDir>/test/support/setup/random.ts'],
};

module.exports = {
	rootDir: __dirname,
	// Engine tests are idle half of the time.
	maxWorkers: Math.ceil(1.5 * availableParallelism()),
	// Long enough for a busy machine. Only a test that hangs reaches this limit.
	testTimeout: 1_800_000,
	reporters: ['default', '<rootDir>/test/support/totals.js'],
	projects: [
		{
			...shared,
			displayName: 'unit',
			setupFiles: [...shared.setupFiles, '<rootDir>/test/support/setup/properties.ts'],
			testMatch: ['<rootDir>/test/{bench,client,nodes,sandbox,support,tools}/**/*.test.ts'],
		},
		{
			...shared,
			displayName: 'engine',
			testMatch: ['<rootDir>/test/engine/**/*.test.ts'],
			testEnvironment: '<rootDir>/test/engine/setup/environment.mjs',
			setupFiles: [...shared.setupFiles, '<rootDir>/test/engine/setup/own-modules.ts'],
			transform: {
				...shared.transform,
				[`/node_modules/(${loadedOnce.join('|')})/.+\\.c?js$`]:
					'<rootDir>/test/engine/setup/loaded-once.js',
			},
			transformIgnorePatterns: [],
		},
	],
	collectCoverageFrom: ['client/**/*.ts', 'nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageThreshold: {
		'./client/': { lines: 95, branches: 90 },
		'./nodes/': { lines: 95, branches: 90 },
	},
	// No HTML: the linter would check its scripts.
	coverageReporters: [['text', { skipFull: true }], 'text-summary', 'lcovonly'],
};
