/** Checks what a step sends and receives when the credential is edited or n8n is paused in the meantime. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startSandbox } from '../../sandbox/server';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { until } from './support/until';
import {
	byHand,
	imageNode,
	promptsNamed,
	small,
	smallImageNode,
	trigger,
} from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.open({ name: 'requests', sandbox: { generationSeconds: 60 } });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

async function begin(name: string, prompts: string[], node = smallImageNode()): Promise<string> {
	return await stage.executions.run(await stage.save(byHand(name, prompts, node)), trigger);
}

const megabyte = 1024 * 1024;
const ESTABLISHED = '01';

/** Counts the connections of other processes to a local port, as the system lists them. */
async function connectionsTo(address: string): Promise<number> {
	const port = Number(new URL(address).port).toString(16).toUpperCase().padStart(4, '0');
	const lists = ['/proc/net/tcp', '/proc/net/tcp6'].map(
		async (list) => await readFile(list, 'utf8'),
	);
	const rows = (await Promise.all(lists)).flatMap((list) => list.trim().split('\n').slice(1));
	return rows.filter((row) => {
		const [, , remote, state] = row.trim().split(/\s+/);
		return remote.endsWith(`:${port}`) && state === ESTABLISHED;
	}).length;
}

it('sends the new key of an edited credential only to its own address', async () => {
	const other = await startSandbox();
	const { books, keys, requests } = stage.sandbox;
	const save = async (baseUrl: string, apiKey: string) =>
		await stage.rest.saveCredential(stage.credential.name, stage.credential.type, {
			baseUrl,
			apiKey,
		});
	const id = await begin('Edited', promptsNamed('Edited', 20));
	await until('a first round', () => books.totals.created >= 10);
	await save(other.url, keys.second);
	const execution = await stage.executions.ended(id);
	await save(stage.sandbox.url, keys.main);
	await other.close();

	expect(errorOf(execution)).toContain('Base URL in the credential was changed');
	const [{ keyFingerprint }] = requests.on('create');
	const atService = requests.all.filter(({ origin }) => origin === 'service');
	expect(atService.filter((one) => one.keyFingerprint !== keyFingerprint)).toEqual([]);
	expect(other.requests.all).toEqual([]);
	const said = JSON.stringify(execution);
	for (const key of [keys.main, keys.second]) expect(said).not.toContain(key);
	for (const generation of books.generations) expect(said).toContain(generation.id);
});

it('keeps the ID of a generation if the response arrived while n8n was paused for 65 s', async () => {
	const { books, faults, requests } = stage.sandbox;
	faults.order({ on: 'create', action: { kind: 'delay', ms: 3_000 } });
	const id = await begin('Paused', ['Paused [seconds: 10]']);
	await until('the creating request is under way', () => requests.on('create').length === 1);
	stage.n8n.service.signal('SIGSTOP');
	await delay(65_000);
	stage.n8n.service.signal('SIGCONT');
	const execution = await stage.executions.ended(id);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Images')).toMatchObject([{ json: { status: 'completed' } }]);
	expect(books.totals.created).toBe(1);
});

it('closes its connections to the storage when the step ends', async () => {
	const { faults, requests, storageUrl } = stage.sandbox;
	faults.order({ on: 'probe', times: 'always', action: { kind: 'ignoreRange' } });
	const node = imageNode();
	Object.assign(node.parameters, small({ downloadOutput: false }));
	const prompts = promptsNamed('Whole [seconds: 20] [size: 50MB]', 20);
	const execution = await stage.executions.ended(await begin('Whole', prompts, node));
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const whole = requests.on('probe').filter(({ status }) => status === 200);
	expect(whole.length).toBeGreaterThan(0);
	expect(Math.max(...whole.map(({ bytes }) => bytes))).toBeLessThan(20 * megabyte);
	// Node.js closes an idle connection five seconds after its last response, so the limit must be well below that.
	const closed = async () => (await connectionsTo(storageUrl)) === 0;
	await until('n8n has no connection to the storage', closed, 2_000);
});
