import base from './jest.config.js';

/** `npx jest --config test/e2e/jest.clients.config.mjs`. The tests install the clients, and start neither n8n nor other programs. */
export default {
	...base,
	globalSetup: undefined,
	globalTeardown: undefined,
	testMatch: ['<rootDir>/clients/*.test.ts'],
};
