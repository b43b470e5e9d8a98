/** Runs `npm start` as a person does who wants to try the nodes. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { IDataObject, INode } from 'n8n-workflow';
import { http } from '../../tools/http';
import { errorOf, Executions, itemsOf } from '../../tools/n8n/executions';
import { Rest } from '../../tools/n8n/rest';
import { Service } from '../../tools/n8n/service';
import { button } from './support/examples';
import { owner } from './support/stage';
import { outputFolder, repository } from './support/surroundings';
import { until } from './support/until';

const folder = outputFolder('start');
const data = join(folder, 'data');

beforeAll(async () => await rm(folder, { recursive: true, force: true }));

/** Runs without npm, which does not forward signals. In a terminal they reach the whole group. */
async function start(): Promise<{ service: Service; url: string }> {
	const service = await Service.start({
		name: 'npm start',
		command: process.execPath,
		args: ['--require', 'tsx/cjs', join('tools', 'start', 'main.ts'), '--data', data],
		env: { ...process.env, NODE_ENV: undefined },
		cwd: repository,
		logFile: join(folder, 'start.log'),
	});
	await service.until(() => service.output.includes('To stop everything, press Ctrl+C'), 400_000);
	const url = /^n8n +(\S+)/m.exec(service.output)?.[1];
	if (!url) throw new Error(`No address in:\n${service.output}`);
	return { service, url };
}

async function signedIn(url: string): Promise<Rest> {
	const rest = new Rest(url);
	await rest.signIn(owner);
	return rest;
}

/** The examples that the editor's button runs. */
const examples = [
	'Main Example: Picture and Video',
	'MCP Asset Library',
	'Low Balance Alarm',
	'Scheduled Batch from Table',
	'Scheduled Batch to S3',
	'Post to Telegram',
];

async function idOf(rest: Rest, example: string): Promise<string> {
	const found = (await rest.workflows()).filter(({ name }) => name === example);
	expect(found).toHaveLength(1);
	return found[0].id;
}

/** Checks that only the sign-in itself is left to a person. */
async function expectSignInPrepared(rest: Rest): Promise<void> {
	const id = await idOf(rest, 'MCP Agent Signed In to the Asset Library');
	const { nodes } = await rest.send<{ nodes: INode[] }>('GET', `/workflows/${id}`);
	const connector = nodes.find(({ name }) => name === 'Connector');
	expect(connector?.parameters.endpointUrl).toMatch(/^http:.*\/mcp$/);
	expect(connector?.credentials?.mcpOAuth2Api).toMatchObject({ id: expect.stringMatching(/./) });
}

async function runToEnd(rest: Rest, id: string, trigger = button, json?: IDataObject) {
	const workflow = await rest.send<Parameters<Executions['run']>[0]>('GET', `/workflows/${id}`);
	const executions = new Executions(rest);
	const run = await executions.run(workflow, trigger, json);
	const execution = await executions.ended(run);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	return { run, execution };
}

/**
 * Checks that uploads and messages are on the pages that the banner names, and that an agent draws what it is asked to.
 */
async function expectStandIns(rest: Rest, output: string): Promise<void> {
	const [, bucket] =
		/S3 stand-in +(\S+)/.exec(output.slice(output.lastIndexOf('Other services'))) ?? [];
	expect((await http.get<string>(bucket)).data).toContain('<Key>pictures/1-harbor-dawn.png</Key>');
	const [, telegram] = /Telegram stand-in +(http\S+)/.exec(output) ?? [];
	expect((await http.get<string>(telegram)).data).toContain('Picture of the day');
	const agent = await idOf(rest, 'AI Agent that Creates Pictures and Videos');
	const chatInput = 'Draw me a fox in a snowy forest, wide format.';
	const message = { sessionId: 'test', action: 'sendMessage', chatInput };
	const { execution } = await runToEnd(rest, agent, 'When chat message received', message);
	const said = String(itemsOf(execution, 'Media Assistant')[0].json.output);
	const [, url = said] = /!\[\]\((.*)\)/.exec(said) ?? [];
	expect((await http.get(url)).headers['content-type']).toBe('image/png');
}

async function refuses(url: string): Promise<boolean> {
	return await http.get(url).then(
		() => false,
		() => true,
	);
}

it('starts, runs the examples, keeps everything for the next start, and ends with Ctrl-C', async () => {
	const first = await start();
	expect(first.service.output).toContain(owner.password);
	const sandbox = /^Sandbox +(\S+)/m.exec(first.service.output)?.[1] ?? '';
	const rest = await signedIn(first.url);
	const ids = await Promise.all(examples.map(async (example) => await idOf(rest, example)));
	const [{ run }] = await Promise.all(ids.map(async (id) => await runToEnd(rest, id)));
	await expectStandIns(rest, first.service.output);
	await expectSignInPrepared(rest);

	await first.service.stop(60_000, 'SIGINT');
	expect(first.service.exit).toBe('code 130');
	// A killed process may hold its port for a moment.
	await until('n8n is gone', async () => await refuses(first.url), 5_000);
	expect(await refuses(sandbox)).toBe(true);

	const second = await start();
	const again = await signedIn(second.url);
	expect(await idOf(again, examples[0])).toBe(ids[0]);
	expect(await new Executions(again).idsOf(ids[0])).toEqual([run]);
	await second.service.stop(60_000, 'SIGTERM');
	await until('n8n is gone', async () => await refuses(second.url), 5_000);
});
