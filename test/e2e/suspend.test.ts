/** A suspended wait in n8n's database survives the death of n8n, and is not charged again. */
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, promptsNamed, submit, suspended, trigger } from './support/workflows';
import type { OwnNode } from './support/workflows';

/** Longer than a step waits before it suspends, so that every execution is suspended once. */
const generationSeconds = 100;
const minutes = 60_000;
const shortestSleepMs = 65_000;
/** How long a check that is due waits for n8n's crash recovery. */
const startingMs = 30_000;

const files = promptsNamed('Asleep', 3);

const named = suspended({ options: { binaryPropertyName: 'file', fileName: 'picture' } });
/** Uses the file from the suspended step as its reference input. */
const reader: OwnNode = {
	name: 'Reader',
	type: 'imageGeneration',
	parameters: {
		model: { __rl: true, mode: 'id', value: 'aurora-image-1' },
		prompt: "={{ 'After ' + $('Prompts').item.json.prompt }}",
		referenceInputs: { input: [{ source: 'binary', binaryPropertyName: 'file' }] },
		waitForCompletion: false,
	},
};

let stage: Stage;
let ended: Execution;
/** When n8n was started after it was killed while everything was suspended, in milliseconds since the Unix epoch. */
let startedAgainAt: number;

beforeAll(async () => {
	stage = await Stage.open({
		name: 'suspend',
		sandbox: { generationSeconds, timeScale: 1 },
		// The strictest n8n setting: by default no workflow may be called by another, unless it allows that.
		env: { N8N_WORKFLOW_CALLER_POLICY_DEFAULT_OPTION: 'none' },
	});
	const workflow = await stage.save(byHand('Suspended', files, submit, named, reader));
	const id = await stage.executions.run(workflow, trigger);
	await stage.executions.asleep(id);
	// It is started again so late that the check is due at once.
	startedAgainAt = (await stage.restart(shortestSleepMs)) + shortestSleepMs;
	ended = await stage.executions.ended(id);
}, 40 * minutes);
afterAll(async () => await stage?.close());

it('survives the death of n8n while suspended, and returns the paired files in order, readable for the next step', async () => {
	expect([ended.status, errorOf(ended)]).toEqual(['success', '']);
	const items = itemsOf(ended, 'Asleep');
	const submitted = itemsOf(ended, 'Images').map(({ json }) => json.id);
	expect(items.map(({ json }) => [json.id, json.status])).toEqual(
		submitted.map((generation) => [generation, 'completed']),
	);
	for (const { binary = {} } of items) {
		expect(binary.file).toMatchObject({ fileName: 'picture.png', mimeType: 'image/png' });
		const bytes = await stage.executions.download(binary.file);
		expect(bytes.subarray(1, 4).toString()).toBe('PNG');
	}
	// Each following request has the file of its own item, and the prompt of the item that it is paired with.
	const after = stage.sandbox.books.generations.filter(({ prompt }) => prompt.startsWith('After'));
	const expected = files.map((prompt) => `After ${prompt}`);
	expect(after.map(({ prompt }) => prompt).sort()).toEqual(expected);
	for (const { request } of after) {
		expect(JSON.stringify(request.inputs)).toContain('data:image/png;base64,');
	}
	for (const prompt of files) {
		expect(stage.sandbox.books.liveChargesFor(prompt)).toBe(1);
	}
});

it('checks nothing before n8n has recovered, although the check is due while n8n starts', () => {
	const checks = stage.sandbox.requests.on('status');
	const after = checks.map(({ at }) => at - startedAgainAt).filter((ms) => ms > 0);
	expect(after.length).toBeGreaterThan(0);
	// n8n loads the package some seconds before it answers, and the check would be due at once.
	expect(Math.min(...after)).toBeGreaterThan(startingMs - 10_000);
});
