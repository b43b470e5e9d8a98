/** Used by compat.mjs on older releases of n8n, for both the same and the different behavior. */
module.exports = {
	...require('./jest.config.js'),
	testMatch: ['<rootDir>/{nodes,retry,stop}.test.ts', '<rootDir>/older/*.test.ts'],
};
