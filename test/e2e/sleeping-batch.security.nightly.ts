/** What others learn of sleeping executions: from n8n's list, and by attacks on a shared n8n. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { newMemory } from '../../client/jobs/memory';
import { STORED_VERSION } from '../../nodes/shared/sleep/state';
import type { Message, Role, SleepState } from '../../nodes/shared/sleep/state';
import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { errorOf, Executions, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Rest } from '../../tools/n8n/rest';
import type { Credential } from '../../tools/n8n/rest';
import { Stage } from './support/stage';
import { until } from './support/until';
import { invite } from './support/users';
import { byHand, imageNode, promptsNamed, small, trigger, withItem } from './support/workflows';
import type { OwnNode } from './support/workflows';

const minutes = 60_000;
const prompts = promptsNamed('Secret plan', 4);
const secretFile = Buffer.from('The bytes of a secret file').toString('base64');
const waitedFor = 'Another secret plan';

const image = imageNode({ idempotencyKey: '={{ $json.prompt }}' });
const batch: OwnNode = {
	...image,
	parameters: {
		...image.parameters,
		referenceInputs: { input: [{ source: 'url', url: `data:image/png;base64,${secretFile}` }] },
		options: {
			idempotencyKey: '={{ $json.prompt }}',
			includeOtherFields: true,
			size: '256x256',
		},
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 2 },
	},
};
const submit: OwnNode = {
	...imageNode(),
	parameters: small({ ...imageNode().parameters, waitForCompletion: false }),
};
const wait: OwnNode = {
	name: 'Asleep',
	type: 'waitForCompletion',
	parameters: { mode: 'suspend', options: { includeOtherFields: true } },
};

const roles: Role[] = ['startWaves', 'return', 'collect', 'report', 'sleep', 'wave', 'deliver'];
const atTheEnd: Role[] = ['collect', 'deliver', 'return'];
/** The settings of a workflow whose author knows how helper workflows prove where they belong. */
const claims = {
	mediaGeneration: {
		secret: '00000000-0000-4000-8000-000000000000',
		successes: 'all',
		errors: 'all',
	},
};

/** Without files, which would have to be kept. */
const unkeptBatch: OwnNode = {
	...batch,
	parameters: { ...batch.parameters, downloadOutput: false },
};
const unkeptWait: OwnNode = {
	...wait,
	parameters: { ...wait.parameters, downloadOutput: false },
};
const after: OwnNode = {
	...submit,
	name: 'After',
	parameters: { ...submit.parameters, prompt: "=After {{ $('Prompts').item.json.prompt }}" },
};

const keepsNothing = { saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' };

let stage: Stage;
let theirs: Sandbox;
let theirRest: Rest;
let theirCredential: Credential;
/** The executions that are attacked, while they sleep. */
let asleep: Record<'batch' | 'wait', Execution>;
/** The same executions after their end. */
let ended: Record<'batch' | 'wait', Execution>;
let attacks: Execution[];
/** The number of executions of workflows that keep none, after all have ended. */
let unkept: number[];

beforeAll(async () => {
	stage = await Stage.open({
		name: 'sleeping-batch-security',
		sandbox: { generationSeconds: 150, timeScale: 1 },
		env: { N8N_LOG_LEVEL: 'debug' },
	});
	theirs = await startSandbox({ timeScale: 100, generationSeconds: 1 });
	await signUp();
	const ids = {
		batch: await begin(byHand('Sleeping batch', prompts, batch)),
		wait: await begin(byHand('Suspended wait', [waitedFor], submit, wait)),
	};
	await Promise.all(Object.values(ids).map(async (id) => await stage.executions.asleep(id)));
	asleep = {
		batch: await stage.executions.read(ids.batch),
		wait: await stage.executions.read(ids.wait),
	};
	const attacking = attackAll();
	const unkeeping = Promise.all([
		runUnkept('Unkept batch', unkeptBatch),
		runUnkept('Unkept wait', submit, unkeptWait),
	]);
	ended = {
		batch: await stage.executions.ended(ids.batch),
		wait: await stage.executions.ended(ids.wait),
	};
	attacks = await attacking;
	unkept = await unkeeping;
}, 40 * minutes);
afterAll(async () => {
	await stage?.close();
	await theirs?.close();
});

/** A second user, without any rights to what belongs to the first one. */
async function signUp(): Promise<void> {
	theirRest = new Rest(stage.n8n.url);
	await theirRest.signIn(await invite(stage.n8n.url, 'attacker'));
	const data = { baseUrl: theirs.url, apiKey: theirs.keys.enterprise };
	theirCredential = await theirRest.saveCredential('Own service', 'mediaGenerationApi', data);
}

async function begin(file: ReturnType<typeof byHand>): Promise<string> {
	return await stage.executions.run(await stage.save(file), trigger);
}

/** Runs a workflow that keeps no executions, and returns how many are left after its last node. */
async function runUnkept(prompt: string, ...nodes: OwnNode[]): Promise<number> {
	const file = byHand(prompt, [prompt], ...nodes, after);
	const settings = { ...file.settings, saveManualExecutions: false, ...keepsNothing };
	const workflow = await stage.save({ ...file, settings });
	await stage.executions.asleep(await stage.executions.run(workflow, trigger));
	const created = () => stage.sandbox.books.liveChargesFor(`After ${prompt}`) > 0;
	await until('the execution goes on', created, 20 * minutes);
	const left = async () => (await stage.executions.idsOf(workflow.id)).length;
	// n8n removes them at their ends. Whatever is left after that stays.
	await until('nothing is left', async () => (await left()) === 0, minutes).catch(() => undefined);
	return await left();
}

/** Runs a workflow of the attacker, and returns all of its executions. */
async function attack(role: Role, message: Message, node: OwnNode): Promise<Execution[]> {
	// The node looks up the generation that the item names.
	const item = { sleepingBatchMessage: message, id: 'made-up' };
	const parameters = { ...node.parameters, batchRole: role };
	const file = withItem(role, item, { ...node, parameters, onError: 'continueRegularOutput' });
	const workflow = await theirRest.createWorkflow(
		{ ...file, settings: { ...file.settings, ...claims } },
		theirCredential,
	);
	const executions = new Executions(theirRest);
	await executions.ended(await executions.run(workflow, trigger));
	const ids = await executions.idsOf(workflow.id);
	return await Promise.all(ids.map(async (id) => await executions.ended(id)));
}

async function attackAll(): Promise<Execution[]> {
	const victims = [
		{ batch: asleep.batch.id, step: 'Images', node: image },
		{ batch: asleep.wait.id, step: 'Asleep', node: wait },
	];
	const attacking = victims.flatMap(({ node, ...victim }) =>
		roles.map(async (role) => {
			const state = { ...forgedState, ...victim, over: atTheEnd.includes(role) };
			return await attack(role, { state }, node);
		}),
	);
	return (await Promise.all(attacking)).flat();
}

const forgedState = {
	...{ v: STORED_VERSION, run: 0, hasFiles: true, stopped: false },
	...{ wakeAt: 1, dead: 0, lastDeath: '', collections: 0, memory: newMemory('made-up', 1) },
} satisfies Omit<SleepState, 'batch' | 'step' | 'over'>;

function secretOf({ data }: Execution): string {
	const { contextData = {} } = data.executionData ?? {};
	const { sleepingBatch } = contextData['node:Images'] as { sleepingBatch: IDataObject };
	return String(sleepingBatch.secret);
}

it('sends no prompt, file or ID of another user to the service of the attacker', () => {
	const arrived = theirs.requests.all.map(({ method, path }) => `${method} ${path}`);
	// The attacker's own ID, from the attacks on Wait for Completion.
	expect(arrived.filter((request) => !request.endsWith('/made-up'))).toEqual([]);
	expect(theirs.books.generations.map(({ prompt }) => prompt)).toEqual([]);
});

it('shows no prompt, file or result of another user in the executions of the attacker', () => {
	expect(attacks.length).toBeGreaterThanOrEqual(2 * roles.length);
	const made = stage.sandbox.books.generations.map(({ id }) => id);
	expect(made.length).toBeGreaterThan(prompts.length);
	const shown = JSON.stringify(attacks);
	const secrets = ['Secret plan', waitedFor, secretFile, stage.sandbox.url, ...made];
	expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
});

it('does not show the secret of the batch to the attacker, in a log, or in what the batch returns', () => {
	const secret = secretOf(asleep.batch);
	expect(secret).toHaveLength(36);
	const log = readFileSync(join(stage.folder, 'n8n.log'), 'utf8');
	expect(log).toContain('Resuming execution');
	const output = JSON.stringify(ended.batch.data.resultData);
	expect([JSON.stringify(attacks), log, output].map((text) => text.includes(secret))).toEqual([
		...[false, false, false],
	]);
});

it('lets the attacked executions go on as if nothing had happened', () => {
	expect([ended.batch.status, errorOf(ended.batch)]).toEqual(['success', '']);
	expect([ended.wait.status, errorOf(ended.wait)]).toEqual(['success', '']);
	expect(itemsOf(ended.batch, 'Images').map(({ json }) => json.prompt)).toEqual(prompts);
	const charges = [...prompts, waitedFor].map((text) => stage.sandbox.books.liveChargesFor(text));
	expect(charges).toEqual([1, 1, 1, 1, 1]);
});

it('leaves no execution behind if the workflow keeps none and there are no files', () => {
	expect(unkept).toEqual([0, 0]);
});
