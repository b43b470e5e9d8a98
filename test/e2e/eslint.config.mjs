import { toolingConfig } from '../../tools/eslint.base.mjs';

export default [
	...toolingConfig,
	{
		rules: {
			// From the package of this folder, which only the end-to-end tests install.
			'import-x/no-unresolved': [
				'error',
				{
					ignore: ['^@20minutes/s3rver$', '^playwright-core$', '^@n8n/scan-community-package/'],
				},
			],
		},
	},
];
