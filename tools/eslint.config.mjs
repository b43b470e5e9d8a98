// Rules for everything that is not published: `eslint --config tools/eslint.config.mjs`. The file at the root has to be
// n8n's default, which lints every file as if it shipped to n8n Cloud, without a file system, timers or `process`.
import js from '@eslint/js';
import importX from 'eslint-plugin-import-x';
import typescript from 'typescript-eslint';

/** Globals of plain JavaScript in Node.js. The compiler knows those of TypeScript. */
const modules = [
	'process',
	'console',
	'Buffer',
	'URL',
	'AbortController',
	'setInterval',
	'clearInterval',
];
const commonJs = ['process', 'console', 'require', '__dirname'];

function readonly(names) {
	return Object.fromEntries(names.map((name) => [name, 'readonly']));
}

export default typescript.config(
	{
		extends: [js.configs.recommended, typescript.configs.recommended],
		plugins: { 'import-x': importX },
		rules: {
			eqeqeq: ['error', 'always', { null: 'ignore' }],
			'no-restricted-globals': ['error', { name: 'fetch', message: 'Use tools/http.ts.' }],
			'import-x/first': 'error',
			'import-x/newline-after-import': 'error',
			'import-x/no-duplicates': 'error',
			'import-x/no-mutable-exports': 'error',
			'@typescript-eslint/consistent-type-imports': [
				'error',
				{ disallowTypeAnnotations: false, fixStyle: 'separate-type-imports' },
			],
		},
	},
	{ files: ['**/*.mjs'], languageOptions: { globals: readonly(modules) } },
	{
		files: ['**/*.{js,cjs}'],
		languageOptions: {
			sourceType: 'commonjs',
			// The environment of the engine tests gives `requireOnce`.
			globals: { module: 'writable', ...readonly([...commonJs, 'requireOnce']) },
		},
		rules: { '@typescript-eslint/no-require-imports': 'off' },
	},
);
