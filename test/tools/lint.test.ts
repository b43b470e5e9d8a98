import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');

it("the linter has n8n's default configuration, without which n8n does not verify a package", async () => {
	const template = '@n8n/node-cli/dist/template/templates/shared/default/eslint.config.mjs';
	const read = async (...path: string[]) => await readFile(join(root, ...path), 'utf8');
	expect(await read('eslint.config.mjs')).toBe(await read('node_modules', template));
});
