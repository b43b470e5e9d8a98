/** `npm test`: each promise once. Files named `*.full.test.ts`, and folders about anything but the nodes, are not part of it. */
const all = require('../../jest.config.js');

const [unit, engine] = all.projects;
const testPathIgnorePatterns = ['\\.full\\.test\\.ts$'];
const globals = { propertyRuns: 5 };

module.exports = {
	...all,
	reporters: ['default', ['<rootDir>/test/support/totals.js', { processorSeconds: 10 }]],
	projects: [
		{
			...unit,
			globals,
			testMatch: ['<rootDir>/test/{client,nodes}/**/*.test.ts'],
			testPathIgnorePatterns,
		},
		{ ...engine, globals, testPathIgnorePatterns },
	],
};
