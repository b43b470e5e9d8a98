/** The scripts of package.json: what they have in common. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runNode as node } from './run-node';

const root = resolve(__dirname, '../..');

it('commands that run in parallel fail together: the first failure ends the others', async () => {
	const forever = 'node -e "setInterval(() => {}, 1000)"';
	const parallel = join(root, 'tools', 'in-parallel.mjs');
	const { code, said } = await node([parallel, forever, 'node -e "process.exit(3)"']);
	expect(said).toMatch(/FAILED +node -e "process\.exit\(3\)"/);
	expect(said.trimEnd().split('\n').at(-1)).toBe('0 passed, 0 failed');
	expect(code).toBe(1);
});

it("the linter has n8n's default configuration, without which n8n does not verify a package", async () => {
	const template = '@n8n/node-cli/dist/template/templates/shared/default/eslint.config.mjs';
	const read = async (...path: string[]) => await readFile(join(root, ...path), 'utf8');
	expect(await read('eslint.config.mjs')).toBe(await read('node_modules', template));
});
