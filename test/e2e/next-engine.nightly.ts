/** The next engine of n8n (`engineType: 'v2'`), which hands a step no cancel signal and nothing that was kept, and does not let it sleep. */
import { mkdir } from 'node:fs/promises';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow } from '../../tools/n8n/rest';
import { freePorts } from '../../tools/n8n/ports';
import { DataTable } from './support/data-table';
import { Backing } from './support/queue';
import { Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

let backing: Backing;
let stage: Stage;

beforeAll(async () => {
	const logs = outputFolder('next-engine-database');
	await mkdir(logs, { recursive: true });
	backing = await Backing.start(logs);
	const { DB_POSTGRESDB_HOST: host, DB_POSTGRESDB_PORT: port } = backing.env;
	const [engine, control] = await freePorts(2);
	const env = {
		N8N_ENABLED_MODULES: 'engine-v2',
		N8N_ENGINE_DATABASE_URL: `postgres://n8n@${host}:${port}/postgres`,
		N8N_ENGINE_HOST: '127.0.0.1',
		N8N_ENGINE_PORT: String(engine),
		N8N_ENGINE_CONTROL_PLANE_PORT: String(control),
	};
	stage = await Stage.open({ name: 'next-engine', sandbox: { timeScale: 10 }, env });
});
afterAll(async () => {
	await stage?.close();
	await backing?.stop();
});

const keyed = { idempotencyKey: '={{ $json.prompt }}' };

async function save(prompts: string[], runOptions: object, key: object): Promise<Workflow> {
	const step = imageNode({ ...key, ...runOptions });
	const file = byHand('Next engine', prompts, step);
	return await stage.save({ ...file, settings: { ...file.settings, engineType: 'v2' } });
}

async function run(prompts: string[], runOptions: object, key: object = keyed): Promise<Execution> {
	const workflow = await save(prompts, runOptions, key);
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

it('creates images, and polls instead of sleeping', async () => {
	const prompts = promptsNamed('Next', 2);
	const first = await run(prompts, { whileWaiting: 'suspend' });
	expect([first.status, errorOf(first)]).toEqual(['success', '']);
	const items = itemsOf(first, 'Images');
	expect(items.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
	for (const { binary } of items) expect(binary?.data).toMatchObject({ mimeType: 'image/png' });
	expect(stage.sandbox.books.totals.created).toBe(2);
});

it('reuses a generation with a key from an earlier execution of the same workflow', async () => {
	const prompts = promptsNamed('Kept', 2);
	const workflow = await save(prompts, {}, keyed);
	const ids = [];
	for (let runs = 0; runs < 2; runs++) {
		const ended = await stage.executions.ended(await stage.executions.run(workflow, trigger));
		expect([ended.status, errorOf(ended)]).toEqual(['success', '']);
		ids.push(itemsOf(ended, 'Images').map(({ json }) => json.id));
	}
	expect(ids[1]).toEqual(ids[0]);
	expect(prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt))).toEqual([1, 1]);
});

it('writes the IDs of a failed step to the data table, because this engine keeps only the message of an error', async () => {
	const prompts = ['Good', 'Broken [fail: out of paint]'];
	const ended = await run(prompts, { maxConcurrent: 1 }, {});
	expect([ended.status, errorOf(ended)]).toEqual([
		'error',
		expect.stringContaining('out of paint'),
	]);
	const [good] = stage.sandbox.books.generations.filter(({ prompt }) => prompt === prompts[0]);
	const rows = await (await DataTable.of(stage.rest)).rows();
	expect(rows.find(({ generation_id: id }) => id === good.id)).toMatchObject({
		prompt: prompts[0],
		key: null,
	});
});
