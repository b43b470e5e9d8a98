/** The scripts of package.json: what they have in common. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runNode as node } from './run-node';

const root = resolve(__dirname, '../..');
const tools = join(root, 'tools');

it.each([
	[{ HTTP_PROXY: 'http://proxy:3128' }, '127.0.0.1,localhost'],
	[{ HTTP_PROXY: 'http://proxy:3128', no_proxy: '.corp' }, '.corp,127.0.0.1,localhost'],
])('requests to this machine bypass the proxy: %j', async (env, hosts) => {
	const shown = "['HTTP_PROXY', 'NO_PROXY', 'no_proxy'].map((name) => process.env[name]).join(' ')";
	const { said } = await node(['--import', './tools/install.mjs', '-p', shown], { env });
	expect(said.trim()).toBe(`${env.HTTP_PROXY} ${hosts} ${hosts}`);
});

describe('commands that run in parallel', () => {
	const parallel = join(tools, 'in-parallel.mjs');
	const forever = 'node -e "setInterval(() => {}, 1000)"';

	it('fail together: the first failure ends the others', async () => {
		const { code, said } = await node([parallel, forever, 'node -e "process.exit(3)"']);
		expect(said).toMatch(/FAILED +node -e "process\.exit\(3\)"/);
		expect(said.trimEnd().split('\n').at(-1)).toBe('0 passed, 0 failed');
		expect(code).toBe(1);
	});

	it('end on Ctrl-C', async () => {
		const talking = `node -e "console.log('begun'); setInterval(() => {}, 1000)"`;
		let pressed = false;
		const { code } = await node([parallel, talking, forever], {
			onOutput: (pid, said) => {
				if (pressed || !said.includes('begun')) return;
				pressed = true;
				process.kill(-pid, 'SIGINT');
			},
		});
		expect(code).toBe(130);
	});
});

it("the linter has n8n's default configuration, without which n8n does not verify a package", async () => {
	const template = '@n8n/node-cli/dist/template/templates/shared/default/eslint.config.mjs';
	const read = async (...path: string[]) => await readFile(join(root, ...path), 'utf8');
	expect(await read('eslint.config.mjs')).toBe(await read('node_modules', template));
});
