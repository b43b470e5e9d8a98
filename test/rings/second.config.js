/** `npm run test:full`: what the first ring leaves out, and the files with properties, now with many cases. */
const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const all = require('../../jest.config.js');

const [unit, engine] = all.projects;
const isProperty = (file) => readFileSync(file, 'utf8').includes("from 'fast-check'");

function filesWithProperties(folder) {
	return readdirSync(join(all.rootDir, folder), { recursive: true })
		.filter((name) => name.endsWith('.test.ts'))
		.map((name) => join(all.rootDir, folder, name))
		.filter(isProperty);
}

module.exports = {
	...all,
	projects: [
		{
			...unit,
			testMatch: [
				'<rootDir>/test/{bench,sandbox,support,tools}/**/*.test.ts',
				'<rootDir>/test/{client,nodes}/**/*.full.test.ts',
				...filesWithProperties('test/client'),
				...filesWithProperties('test/nodes'),
			],
		},
		{
			...engine,
			testMatch: ['<rootDir>/test/engine/**/*.full.test.ts'],
		},
	],
};
