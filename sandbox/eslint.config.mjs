import { toolingConfig, withoutImportsFrom } from '../tools/eslint.base.mjs';

export default [
	...toolingConfig,
	withoutImportsFrom(
		['client', 'nodes', 'credentials'],
		'The sandbox reads the specification for itself, so that it can check the nodes.',
	),
];
