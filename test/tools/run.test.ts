import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const runner = pathToFileURL(join(__dirname, '..', '..', 'tools', 'run.mjs')).href;

/** Returns the environment of a command that `run` starts, given this environment. */
function seenBy(env: Record<string, string>): { [name: string]: string | undefined } {
	const program = `
		import { run } from '${runner}';
		const names = "['HTTP_PROXY', 'NO_PROXY', 'no_proxy'].map((name) => [name, process.env[name]])";
		const { stdout } = await run(process.execPath, ['-p', \`JSON.stringify(\${names})\`], { output: 'hide' });
		console.log(stdout);`;
	const { PATH = '' } = process.env;
	const said = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
		env: { PATH, ...env },
		encoding: 'utf8',
	});
	return Object.fromEntries(JSON.parse(said) as Array<[string, string]>);
}

it.each([
	[{ HTTP_PROXY: 'http://proxy:3128' }, '127.0.0.1,localhost'],
	[{ HTTP_PROXY: 'http://proxy:3128', no_proxy: '.corp' }, '.corp,127.0.0.1,localhost'],
])('requests to this machine bypass the proxy: %j', (env, hosts) => {
	expect(seenBy(env)).toEqual({ HTTP_PROXY: env.HTTP_PROXY, NO_PROXY: hosts, no_proxy: hosts });
});
