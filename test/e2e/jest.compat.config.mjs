import endToEnd from './jest.config.js';

/** Run by compat.mjs on older releases of n8n: what has to be the same there, and what has not. */
export default {
	...endToEnd,
	testMatch: ['<rootDir>/{nodes,retry,stop}.test.ts', '<rootDir>/older/*.test.ts'],
};
