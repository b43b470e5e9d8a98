/** `npm run test:full`: what the first ring leaves out, and its properties with many cases. */
const all = require('../../jest.config.js');

const [unit, engine] = all.projects;

module.exports = {
	...all,
	projects: [unit, { ...engine, testMatch: ['<rootDir>/test/engine/**/*.full.test.ts'] }],
};
