/** Queue mode: Redis, PostgreSQL, a main process and two workers, one of which is killed. */
import { createHash } from 'node:crypto';
import type { N8n } from '../../tools/n8n/server';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byWebhook, imageNode, promptsNamed } from './support/workflows';

const path = 'pictures';

let stage: Stage;
let workflowId: string;

beforeAll(async () => {
	stage = await Stage.open({
		name: 'queue',
		workers: 2,
		env: {
			// A worker that has gone is noticed within seconds instead of a minute.
			QUEUE_WORKER_LOCK_DURATION: '5000',
			QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
			QUEUE_WORKER_STALLED_INTERVAL: '2000',
		},
	});
	const { id, versionId } = await stage.save(byWebhook('Pictures', path, imageNode()));
	workflowId = id;
	await stage.rest.send('POST', `/workflows/${id}/activate`, { versionId });
	// n8n answers before the webhook listens; a request of another kind is none to it.
	const url = `${stage.n8n.url}/webhook/${path}`;
	const listens = async () => (await (await fetch(url)).text()).includes('make a POST request');
	await until('the webhook listens', listens);
});
afterAll(async () => await stage?.close());

/** Calls the workflow as another system would, and returns the id of its execution. */
async function call(prompt: string[]): Promise<string> {
	const before = await stage.executions.idsOf(workflowId);
	const response = await fetch(`${stage.n8n.url}/webhook/${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ prompt }),
	});
	expect(response.status).toBe(200);
	let fresh: string[] = [];
	await until('a new execution', async () => {
		const ids = await stage.executions.idsOf(workflowId);
		fresh = ids.filter((id) => !before.includes(id));
		return fresh.length === 1;
	});
	return fresh[0];
}

/** The worker that has taken an execution. */
function workerOf(id: string): N8n | undefined {
	const words = `Worker started execution ${id} `;
	return stage.workers.find(({ service }) => service.output.includes(words));
}

function charges(prompts: string[]): number[] {
	return prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
}

it('runs a batch in a worker, and its files can be had from the main process', async () => {
	const prompts = promptsNamed('Queued', 6);
	const id = await call(prompts);
	const execution = await stage.executions.ended(id);
	expect([execution.status, execution.mode, errorOf(execution)]).toEqual([
		'success',
		'webhook',
		'',
	]);
	expect(workerOf(id)).toBeDefined();
	expect(charges(prompts)).toEqual(prompts.map(() => 1));

	const items = itemsOf(execution, 'Images');
	expect(items).toHaveLength(6);
	for (const { json, binary } of items) {
		const file = binary?.data;
		if (!file) throw new Error(`Generation ${String(json.id)} came without its file`);
		expect(file.id).toMatch(/^database:/);
		const served = Buffer.from(await (await fetch(String(json.url))).arrayBuffer());
		const stored = await stage.executions.download(file);
		expect(createHash('sha256').update(stored).digest('hex')).toBe(
			createHash('sha256').update(served).digest('hex'),
		);
	}
});

it('goes on with the other worker when one is killed, and nothing is paid twice', async () => {
	const prompts = promptsNamed('[seconds: 300] Interrupted', 5);
	const id = await call(prompts);
	await until('all are under way', () => charges(prompts).every((count) => count === 1));
	const killed = workerOf(id);
	if (!killed) throw new Error(`No worker has execution ${id}`);
	killed.service.signal('SIGKILL');
	await killed.service.ended;

	const next = promptsNamed('After the kill', 4);
	const other = await call(next);
	expect((await stage.executions.ended(other)).status).toBe('success');
	expect(workerOf(other)).not.toBe(killed);
	expect(charges(next)).toEqual([1, 1, 1, 1]);

	// n8n gives the execution up, and its retry has nothing to begin from: it must not pay either.
	const interrupted = await stage.executions.ended(id);
	expect(interrupted.status).toBe('error');
	await stage.executions.ended(await stage.executions.retry(id));
	expect(charges(prompts)).toEqual([1, 1, 1, 1, 1]);
	expect(
		stage.sandbox.books.generations.filter(({ prompt }) => prompts.includes(prompt)),
	).toHaveLength(prompts.length);
});
