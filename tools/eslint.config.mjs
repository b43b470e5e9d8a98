import js from '@eslint/js';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import importPlugin from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/** What this Node offers globally; TypeScript files have the compiler for that. */
const nodeGlobals = Object.fromEntries(
	Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly']),
);

/**
 * Rules for everything that is not published. The configuration at the root is n8n's default and
 * lints every file as if it shipped to n8n Cloud: no file system, no timers, no `process`.
 */
export default tseslint.config(
	{
		files: ['**/*.{ts,mts,mjs,js}'],
		extends: [
			js.configs.recommended,
			tseslint.configs.recommended,
			importPlugin.flatConfigs.recommended,
			importPlugin.flatConfigs.typescript,
		],
		languageOptions: { globals: nodeGlobals },
		settings: { 'import-x/resolver-next': [createTypeScriptImportResolver()] },
		rules: {
			'@typescript-eslint/no-explicit-any': 'error',
			'@typescript-eslint/consistent-type-imports': [
				'error',
				{ disallowTypeAnnotations: false, fixStyle: 'separate-type-imports' },
			],
			'import-x/first': 'error',
			'import-x/newline-after-import': 'error',
			'import-x/no-duplicates': 'error',
			'import-x/no-mutable-exports': 'error',
			// CommonJS packages export what their type declarations say, which the compiler checks.
			'import-x/no-named-as-default': 'off',
			'import-x/no-named-as-default-member': 'off',
			eqeqeq: ['error', 'always', { null: 'ignore' }],
			'no-restricted-globals': ['error', { name: 'fetch', message: 'Use tools/http.ts.' }],
		},
	},
	{
		files: ['**/*.{ts,mts}'],
		rules: {
			// tsc resolves these, and knows the paths of the tests better than the plugin does.
			'import-x/default': 'off',
			'import-x/named': 'off',
			'import-x/namespace': 'off',
			// The plugin does not know the package's `typesVersions`; tsc does.
			'import-x/no-unresolved': ['error', { ignore: ['^@modelcontextprotocol/sdk/'] }],
		},
	},
	{
		files: ['test/e2e/**'],
		// The package of this folder is only installed for the end-to-end tests.
		rules: { 'import-x/no-unresolved': 'off' },
	},
);
