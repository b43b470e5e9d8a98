import { config } from '@n8n/node-cli/eslint';

import { withoutImportsFrom } from '../tools/eslint.base.mjs';

export default [
	...config,
	withoutImportsFrom(
		['n8n-workflow', 'n8n-core', 'nodes', 'credentials'],
		'The client knows the service, not n8n: nodes hand it what it needs of n8n as ports.',
	),
];
