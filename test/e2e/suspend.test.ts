/** Suspended waits in n8n's database hold no worker, lose nothing and are not charged again. */
import { setTimeout as delay } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { Rest } from '../../tools/n8n/rest';
import { startN8n } from '../../tools/n8n/server';
import type { N8n } from '../../tools/n8n/server';
import { errorOf, Executions, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { n8nIn, owner, Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, small, trigger } from './support/workflows';
import type { OwnNode } from './support/workflows';

/** Longer than a step waits before it suspends, so that every execution is suspended once. */
const generationSeconds = 100;
const minutes = 60_000;
const shortestSleepMs = 65_000;
/** How long a check that is due waits for n8n's crash recovery. */
const startingMs = 30_000;

const prompts = {
	files: promptsNamed('Asleep', 3),
	keyless: promptsNamed('[seconds: 1000] Keyless', 3),
	overdue: ['Slower [seconds: 1000]'],
	asleep: ['Survivor'],
	looking: ['Looked at [seconds: 1000]'],
};

const submit: OwnNode = {
	...imageNode(),
	parameters: small({ ...imageNode().parameters, waitForCompletion: false }),
};

function suspended(parameters: INodeParameters = {}): OwnNode {
	return {
		name: 'Asleep',
		type: 'waitForCompletion',
		parameters: { mode: 'suspend', ...parameters },
	};
}

const named = suspended({ options: { binaryPropertyName: 'file', fileName: 'picture' } });
/** Makes the sleep longer than n8n takes to start after a kill. */
const lasting: INodeParameters = { runOptions: { pollInterval: 180 } };
const overdue = suspended({ runOptions: { timeout: 160 } });
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
/** All scenes are suspended at the same time, which saves minutes. */
type Scene = 'files' | 'keyless' | 'overdue';
let scenes: Record<Scene, Promise<Execution>>;
let killed: Promise<Record<'asleep' | 'looking', Execution>>;
/** When n8n was started after it was killed while everything was suspended, in milliseconds since the Unix epoch. */
let startedAgainAt: number;

beforeAll(async () => {
	stage = await Stage.open({
		name: 'suspend',
		sandbox: { generationSeconds, timeScale: 1 },
		// The strictest n8n setting: by default no workflow may be called by another, unless it allows that.
		env: { N8N_WORKFLOW_CALLER_POLICY_DEFAULT_OPTION: 'none' },
	});
	killed = playKilled();
	scenes = {
		files: play('Suspended', prompts.files, named, reader),
		keyless: playKeyless(),
		overdue: play('Suspended, overdue', prompts.overdue, overdue),
	};
	await Promise.allSettled([...Object.values(scenes), killed]);
}, 40 * minutes);
afterAll(async () => await stage?.close());

/** Submits without waiting, then waits suspended. */
async function play(name: string, list: string[], ...nodes: OwnNode[]): Promise<Execution> {
	const workflow = await stage.save(byHand(name, list, submit, ...nodes));
	const id = await stage.executions.run(workflow, trigger);
	await stage.executions.asleep(id);
	return await stage.executions.ended(id);
}

/** Deletes the credential while the execution is suspended. */
async function playKeyless(): Promise<Execution> {
	const { url, keys } = stage.sandbox;
	const data = { baseUrl: url, apiKey: keys.main };
	const credential = await stage.rest.saveCredential('Deleted soon', 'mediaGenerationApi', data);
	const file = byHand('Suspended, without a credential', prompts.keyless, submit, suspended());
	const workflow = await stage.rest.createWorkflow(file, credential);
	const id = await stage.executions.run(workflow, trigger);
	await stage.executions.asleep(id);
	await stage.rest.send('DELETE', `/credentials/${credential.id}`);
	return await stage.executions.ended(id);
}

/**
 * Runs two more in their own n8n, which is killed twice: while both are suspended, and while the second one is awake
 * for a status check. It is started again each time: the first time so late that the first one is due at once.
 */
async function playKilled(): Promise<Record<'asleep' | 'looking', Execution>> {
	const options = await n8nIn(stage, 'killed');
	const first = await startN8n(options);
	const rest = new Rest(first.url);
	await rest.signIn(owner);
	const credential = await rest.saveCredential('Media Generation account', 'mediaGenerationApi', {
		baseUrl: stage.sandbox.url,
		apiKey: stage.sandbox.keys.second,
	});
	const executions = new Executions(rest);
	const begin = async (name: string, list: string[], parameters: INodeParameters = {}) => {
		const file = byHand(name, list, submit, suspended(parameters));
		return await executions.run(await rest.createWorkflow(file, credential), trigger);
	};
	const sleeper = await begin('Killed asleep', prompts.asleep);
	const looker = await begin('Killed awake', prompts.looking, lasting);
	await Promise.all([executions.asleep(sleeper), executions.asleep(looker)]);
	const match = { promptIncludes: prompts.looking[0] };
	stage.sandbox.faults.order({ on: 'status', match, times: 'always', action: { kind: 'hang' } });
	await first.service.stop(0, 'SIGKILL');
	await delay(shortestSleepMs);

	startedAgainAt = Date.now();
	const second = await startN8n(options);
	const afterFirst = await executionsOf(second);
	const survived = await afterFirst.ended(sleeper);
	const looked = () => stage.sandbox.requests.all.some(({ fault }) => fault === 'hang');
	await until('the other one looks', looked);
	await second.service.stop(0, 'SIGKILL');
	stage.sandbox.faults.clear();

	const third = await startN8n(options);
	try {
		for (const { id, prompt } of stage.sandbox.books.generations) {
			if (prompts.looking.includes(prompt)) stage.sandbox.service.finish(id);
		}
		const continued = await (await executionsOf(third)).ended(looker);
		return { asleep: survived, looking: continued };
	} finally {
		await third.service.stop();
	}
}

/** Returns the executions of an n8n that was started again. */
async function executionsOf({ url }: N8n): Promise<Executions> {
	const rest = new Rest(url);
	await rest.signIn(owner);
	return new Executions(rest);
}

it('suspends, resumes, and returns the paired files in order, readable for the next step', async () => {
	const execution = await scenes.files;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Asleep');
	const submitted = itemsOf(execution, 'Images').map(({ json }) => json.id);
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
	const expected = prompts.files.map((prompt) => `After ${prompt}`);
	expect(after.map(({ prompt }) => prompt).sort()).toEqual(expected);
	for (const { request } of after) {
		expect(JSON.stringify(request.inputs)).toContain('data:image/png;base64,');
	}
	for (const prompt of prompts.files) {
		expect(stage.sandbox.books.liveChargesFor(prompt)).toBe(1);
	}
});

it('survives the death of n8n while it is suspended, and pays nothing again', async () => {
	const { asleep: execution } = await killed;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Asleep')[0].json.status).toBe('completed');
	expect(stage.sandbox.books.liveChargesFor(prompts.asleep[0])).toBe(1);
});

it('checks nothing before n8n has recovered, although the check is due while n8n starts', async () => {
	const { id } = itemsOf((await killed).asleep, 'Asleep')[0].json;
	const checks = stage.sandbox.requests
		.on('status')
		.filter(({ generationId }) => generationId === id);
	const after = checks.map(({ at }) => at - startedAgainAt).filter((ms) => ms > 0);
	expect(after.length).toBeGreaterThan(0);
	// n8n loads the package some seconds before it answers, and the check would be due at once.
	expect(Math.min(...after)).toBeGreaterThan(startingMs - 10_000);
});

it('continues on its own when n8n is killed during a status check', async () => {
	const { looking: execution } = await killed;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Asleep').map(({ json }) => json.status)).toEqual(['completed']);
	expect(stage.sandbox.books.liveChargesFor(prompts.looking[0])).toBe(1);
});
