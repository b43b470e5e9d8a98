import endToEnd from './jest.config.js';

/** Used by compat.mjs on older releases of n8n, for both the same and the different behavior. */
export default {
	...endToEnd,
	testMatch: ['<rootDir>/{nodes,retry,stop}.test.ts', '<rootDir>/older/*.test.ts'],
};
