/** Queue mode: Redis, PostgreSQL, a main process and three workers. Two of the workers are killed. */
import { createHash } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import type { N8n } from '../../tools/n8n/server';
import { getBytes } from '../../tools/http';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { lossNoticedSoon, Stage } from './support/stage';
import { until } from './support/until';
import { Webhook } from './support/webhook';
import { imageNode, promptsNamed } from './support/workflows';

let stage: Stage;
let pictures: Webhook;
let suspended: Webhook;
/** At ten times real time, these are still longer than the step itself waits. */
const suspendedPrompts = promptsNamed('[seconds: 1000] Asleep', 2);
/** The execution that sleeps while the other tests run. */
let asleep: string;

beforeAll(async () => {
	stage = await Stage.open({
		name: 'queue',
		workers: 3,
		env: lossNoticedSoon,
	});
	pictures = await Webhook.open(stage, 'pictures', [imageNode()]);
	const { parameters, ...image } = imageNode();
	suspended = await Webhook.open(stage, 'suspended', [
		{ ...image, parameters: { ...parameters, waitForCompletion: false } },
		{ name: 'Asleep', type: 'waitForCompletion', parameters: { mode: 'suspend' } },
	]);
	await killAsleep();
});
afterAll(async () => await stage?.close());

/** Returns the worker that runs an execution. */
function workerOf(id: string): N8n | undefined {
	const words = `Worker started execution ${id} `;
	return stage.workers.find(({ service }) => service.output.includes(words));
}

/** Kills the worker of an execution that has fallen asleep. */
async function killAsleep(): Promise<void> {
	asleep = await suspended.call(suspendedPrompts);
	await stage.executions.asleep(asleep);
	// n8n stores the sleep before it ends the job, and fails the execution if a job loses its worker.
	await until('the job has ended', async () => (await stage.backing.activeJobs()) === 0);
	const killed = workerOf(asleep);
	if (!killed) throw new Error(`No worker has execution ${asleep}`);
	await killed.service.stop(0, 'SIGKILL');
}

function charges(prompts: string[]): number[] {
	return prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
}

/** Checks that the file of an item, stored by a worker and served by the main process, is the service's file. */
async function expectServed({ json, binary }: INodeExecutionData): Promise<void> {
	const file = binary?.data;
	if (!file) throw new Error(`Generation ${String(json.id)} came without its file`);
	expect(file.id).toMatch(/^database:/);
	const { data: served } = await getBytes(String(json.url));
	expect(sha256(await stage.executions.download(file))).toBe(sha256(served));
}

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

it('runs a batch in a worker, and the main process serves its files', async () => {
	const prompts = promptsNamed('Queued', 6);
	const id = await pictures.call(prompts);
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
	for (const item of items) await expectServed(item);
});

it('continues in the other worker when one is killed, and charges nothing twice', async () => {
	// At ten times real time, none of them ends before the test does.
	const prompts = promptsNamed('[seconds: 6000] Interrupted', 5);
	const id = await pictures.call(prompts);
	await until('all are under way', () => charges(prompts).every((count) => count === 1));
	const killed = workerOf(id);
	if (!killed) throw new Error(`No worker has execution ${id}`);
	const isAwake = async () => (await stage.executions.read(asleep)).status === 'running';
	await until('the suspended one is not in this worker', async () => !(await isAwake()));
	killed.service.signal('SIGKILL');
	await killed.service.ended;

	const next = promptsNamed('After the kill', 4);
	const other = await pictures.call(next);
	expect((await stage.executions.ended(other)).status).toBe('success');
	expect(workerOf(other)).not.toBe(killed);
	expect(charges(next)).toEqual([1, 1, 1, 1]);

	// n8n gives up on the execution, and its retry has no data to start from. The retry must not pay either.
	const interrupted = await stage.executions.ended(id);
	expect(interrupted.status).toBe('error');
	await stage.executions.ended(await stage.executions.retry(id));
	expect(charges(prompts)).toEqual([1, 1, 1, 1, 1]);
	expect(
		stage.sandbox.books.generations.filter(({ prompt }) => prompts.includes(prompt)),
	).toHaveLength(prompts.length);
});

it('resumes a suspended wait in another worker than the one that suspended it', async () => {
	const execution = await stage.executions.ended(asleep);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Asleep');
	expect(items.map(({ json }) => [json.id, json.status])).toEqual(
		itemsOf(execution, 'Images').map(({ json }) => [json.id, 'completed']),
	);
	for (const item of items) await expectServed(item);
	expect(charges(suspendedPrompts)).toEqual([1, 1]);
});
