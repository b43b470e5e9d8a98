import base from './jest.config.js';

/** `npx jest --config test/e2e/jest.clients.config.mjs`. The tests install the clients, and start neither n8n nor other programs. */
const { globalSetup: _none, ...rest } = base;
export default { ...rest, testMatch: ['<rootDir>/clients/*.test.ts'] };
