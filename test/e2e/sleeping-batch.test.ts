/** Batches that are suspended in n8n's database hold no worker. In `crash.test.ts`, one continues after a crash. */
import { setTimeout as delay } from 'node:timers/promises';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { asleep, generationSeconds, minutes, SleepingBatches } from './support/sleeping-batches';
import { Stage } from './support/stage';
import { promptsNamed } from './support/workflows';

const prompts = { files: promptsNamed('Asleep', 12), stopped: promptsNamed('Stopped', 6) };

let stage: Stage;
let batches: SleepingBatches;
let scenes: Record<'files' | 'stopped', Promise<Execution>>;
/** The share of the time during which the batch of files had a running execution. */
let held = 0;

beforeAll(async () => {
	stage = await Stage.share({
		name: 'sleeping-batch',
		sandbox: { generationSeconds, timeScale: 1 },
	});
	batches = new SleepingBatches(stage);
	scenes = { stopped: playStopped(), files: playFiles() };
	await Promise.allSettled(Object.values(scenes));
}, 40 * minutes);
afterAll(async () => await stage?.close());

async function playFiles(): Promise<Execution> {
	const { id, workflowId } = await batches.begin('Asleep', prompts.files, asleep(6));
	let [samples, running] = [0, 0];
	for (;;) {
		const execution = await stage.executions.read(id);
		if (!['new', 'running', 'waiting'].includes(execution.status)) break;
		samples++;
		if ((await batches.statusesOf(workflowId)).includes('running')) running++;
		await delay(1000);
	}
	held = running / samples;
	return await stage.executions.ended(id);
}

/** The user stops it while it is suspended. The next wave would create the other three. */
async function playStopped(): Promise<Execution> {
	const { id, workflowId } = await batches.begin('Stopped asleep', prompts.stopped, asleep(3));
	await stage.executions.asleep(id);
	await stage.executions.stop(id);
	await batches.helpersEnded(workflowId);
	return await stage.executions.ended(id);
}

it('returns all files in order, charges each once, and holds a worker for less than half of the time', async () => {
	const execution = await scenes.files;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Images');
	const made = new Map(stage.sandbox.books.generations.map(({ id, prompt }) => [id, prompt]));
	expect(items.map(({ json }) => made.get(String(json.id)))).toEqual(prompts.files);
	expect(items.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
	for (const { binary = {} } of items) {
		const bytes = await stage.executions.download(binary.data);
		expect(bytes.subarray(1, 4).toString()).toBe('PNG');
	}
	expect(batches.charges(prompts.files)).toEqual(prompts.files.map(() => 1));
	process.stdout.write(`A worker was held for ${Math.round(held * 100)} % of the time\n`);
	expect(held).toBeLessThan(0.5);
});

it('leaves three more executions, the last of which holds the files', async () => {
	const execution = await scenes.files;
	const ids = await stage.executions.idsOf(execution.workflowId);
	const others = ids.map(Number).filter((id) => id !== Number(execution.id));
	const read = async (id: number) => (await stage.executions.read(String(id))).workflowData.name;
	const names = await Promise.all(others.sort((one, other) => one - other).map(read));
	expect(names).toEqual(['Images: sleeping batch', 'Images: waves', 'Images: results']);
	// n8n deletes files with the execution that owns them.
	const files = itemsOf(execution, 'Images').map(({ binary }) => String(binary?.data.id));
	for (const file of files) expect(file).toContain(`/executions/${others[2]}/`);
});

it('sends no creating request after a stop', async () => {
	const execution = await scenes.stopped;
	expect(execution.status).toBe('canceled');
	expect(batches.charges(prompts.stopped)).toEqual([1, 1, 1, 0, 0, 0]);
});
