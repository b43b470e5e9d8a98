/** Batches that are suspended in n8n's database hold no worker, and continue on their own after a crash. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { Rest } from '../../tools/n8n/rest';
import { startN8n } from '../../tools/n8n/server';
import { errorOf, Executions, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { n8nIn, owner, Stage } from './support/stage';
import { surroundings } from './support/surroundings';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, small, trigger } from './support/workflows';
import type { OwnNode } from './support/workflows';

const minutes = 60_000;
/** Long enough for every batch to be suspended several times. */
const generationSeconds = 100;

const prompts = {
	files: promptsNamed('Asleep', 30),
	stopped: promptsNamed('Stopped', 6),
	stoppedAwake: promptsNamed('Stopped awake [seconds: 35]', 16),
	failing: ['Fine', 'Broken [fail: Out of paint]', 'Also fine'],
	killed: promptsNamed('Killed', 8),
	markedCrashed: promptsNamed('Marked as crashed [seconds: 100]', 4),
};

const base = imageNode({ idempotencyKey: '={{ $json.prompt }}' });

function asleep(maxConcurrent: number, parameters: INodeParameters = {}): OwnNode {
	const runOptions = { whileWaiting: 'suspend', maxConcurrent };
	return {
		...base,
		parameters: small({ ...base.parameters, runOptions, ...parameters }),
	};
}

let stage: Stage;
type Scene = 'files' | 'stopped' | 'stoppedAwake' | 'failing' | 'killed' | 'markedCrashed';
let scenes: Record<Scene, Promise<Execution>>;
/** The share of the time during which the batch of files had a running execution. */
let held = 0;
/** The number of generations of the batch that was stopped during a wave, shortly after the stop. */
let createdAtStop = 0;

beforeAll(async () => {
	stage = await Stage.open({
		name: 'sleeping-batch',
		sandbox: { generationSeconds, timeScale: 1 },
		// By default no workflow may be called by another, unless it allows that itself.
		env: { N8N_WORKFLOW_CALLER_POLICY_DEFAULT_OPTION: 'none' },
	});
	// Otherwise the batches would wait for each other's slots.
	stage.sandbox.service.accounts.account('main').concurrency = 30;
	const stopped = playStopped();
	scenes = {
		stopped,
		stoppedAwake: stopped.then(playStoppedAwake),
		files: stopped.then(playFiles),
		failing: stopped.then(async () => {
			const node = { ...asleep(10), onError: 'continueRegularOutput' as const };
			return await play('Asleep, failing', prompts.failing, node);
		}),
		killed: playKilled(),
		markedCrashed: stopped.then(playMarkedCrashed),
	};
	await Promise.allSettled(Object.values(scenes));
}, 40 * minutes);
afterAll(async () => await stage?.close());

async function begin(name: string, list: string[], node: OwnNode): Promise<string> {
	const workflow = await stage.save(byHand(name, list, node));
	return await stage.executions.run(workflow, trigger);
}

async function play(name: string, list: string[], node: OwnNode): Promise<Execution> {
	return await stage.executions.ended(await begin(name, list, node));
}

async function playFiles(): Promise<Execution> {
	const workflow = await stage.save(byHand('Asleep', prompts.files, asleep(10)));
	const id = await stage.executions.run(workflow, trigger);
	let [samples, running] = [0, 0];
	for (;;) {
		const execution = await stage.executions.read(id);
		if (!['new', 'running', 'waiting'].includes(execution.status)) break;
		samples++;
		if ((await statusesOf(stage.rest, workflow.id)).includes('running')) running++;
		await delay(1000);
	}
	held = running / samples;
	return await stage.executions.ended(id);
}

/** Returns the statuses of a workflow's executions, including its helper workflows. */
async function statusesOf(rest: Rest, workflowId: string): Promise<string[]> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId }));
	const { results } = await rest.send<{ results: Array<{ status: string }> }>(
		'GET',
		`/executions?filter=${filter}`,
	);
	return results.map(({ status }) => status);
}

/** The user stops it while it is suspended. The next wave would create the other three. */
async function playStopped(): Promise<Execution> {
	const workflow = await stage.save(byHand('Stopped asleep', prompts.stopped, asleep(3)));
	const id = await stage.executions.run(workflow, trigger);
	await stage.executions.asleep(id);
	await stage.executions.stop(id);
	await helpersEnded(workflow.id);
	return await stage.executions.ended(id);
}

/** The user stops it during a wave that would create the rest. Generations this short keep the wave awake. */
async function playStoppedAwake(): Promise<Execution> {
	const list = prompts.stoppedAwake;
	const workflow = await stage.save(byHand('Stopped awake', list, asleep(2)));
	const id = await stage.executions.run(workflow, trigger);
	const created = () => charges(list).reduce((sum, count) => sum + count, 0);
	await until('a wave creates the next ones', () => created() > 4, 8 * minutes);
	await stage.executions.stop(id);
	// The wave notices the stop at its next check, and a check takes long on a busy machine. Each item takes 35 s.
	await delay(60_000);
	createdAtStop = created();
	await helpersEnded(workflow.id);
	return await stage.executions.ended(id);
}

/**
 * After a crash, n8n marks sleeping executions as crashed for some milliseconds. This is the moment in which it checks
 * whether the waves of a step have ended.
 */
async function playMarkedCrashed(): Promise<Execution> {
	const workflow = await stage.save(byHand('Marked', prompts.markedCrashed, asleep(2)));
	const id = await stage.executions.run(workflow, trigger);
	await stage.executions.asleep(id);
	const { node } = surroundings().installation;
	const marked = `UPDATE execution_entity SET status = 'crashed' WHERE id =
		(SELECT MAX(id) FROM execution_entity WHERE workflowId = ? AND waitTill NOT LIKE '2999%') RETURNING id`;
	const script = `
		const { DatabaseSync } = require('node:sqlite');
		const database = new DatabaseSync(${JSON.stringify(join(stage.data, 'n8n/.n8n/database.sqlite'))}, { timeout: 20_000 });
		console.log(database.prepare(${JSON.stringify(marked)}).get(${JSON.stringify(workflow.id)}).id);`;
	const { stdout, stderr } = spawnSync(node, ['-e', script], { encoding: 'utf8' });
	if (!(Number(stdout) > Number(id)))
		throw new Error(`No helper workflow was marked: ${stdout}${stderr}`);
	const ended = await stage.executions.ended(id);
	await helpersEnded(workflow.id);
	return ended;
}

async function helpersEnded(workflowId: string): Promise<void> {
	const ended = async () =>
		!(await statusesOf(stage.rest, workflowId)).some((status) =>
			['waiting', 'running', 'new'].includes(status),
		);
	await until('its helper workflows have ended', ended, 8 * minutes);
}

/**
 * Runs in its own n8n, which ends three times: killed while everything is suspended, killed during a wave, and shut
 * down during a wave, as in a deployment. It is started again each time.
 */
async function playKilled(): Promise<Execution> {
	const options = await n8nIn(stage, 'killed');
	let n8n = await startN8n(options);
	const rest = await signedIn(n8n);
	const { url: baseUrl, keys } = stage.sandbox;
	const data = { baseUrl, apiKey: keys.enterprise };
	const credential = await rest.saveCredential(
		'Media Generation account',
		'mediaGenerationApi',
		data,
	);
	const workflow = await rest.createWorkflow(
		byHand('Killed', prompts.killed, asleep(4)),
		credential,
	);
	const id = await new Executions(rest).run(workflow, trigger);
	await new Executions(rest).asleep(id);
	try {
		for (const [signal, awake] of deaths) {
			if (awake) await waveAwake();
			await n8n.service.stop(signal === 'SIGKILL' ? 0 : 20_000, signal);
			stage.sandbox.faults.clear();
			n8n = await startN8n(options);
		}
		return await new Executions(await signedIn(n8n)).ended(id);
	} finally {
		await n8n.service.stop();
	}
}

/** How n8n ends, and whether this happens during a wave. */
const deaths: Array<[signal: NodeJS.Signals, awake: boolean]> = [
	['SIGKILL', false],
	['SIGKILL', true],
	['SIGTERM', true],
];

/** Waits until a wave checks a status, and delays the response. */
async function waveAwake(): Promise<void> {
	const { faults, requests } = stage.sandbox;
	const match = { promptIncludes: 'Killed' };
	const hanging = () => requests.all.filter(({ fault }) => fault === 'hang').length;
	const before = hanging();
	faults.order({ on: 'status', match, times: 'always', action: { kind: 'hang' } });
	await until('a wave is awake', () => hanging() > before, 8 * minutes);
	// By then, its creating requests have been answered.
	await delay(3000);
}

async function signedIn({ url }: { url: string }): Promise<Rest> {
	const rest = new Rest(url);
	await rest.signIn(owner);
	return rest;
}

function charges(list: string[]): number[] {
	return list.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
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
	expect(charges(prompts.files)).toEqual(prompts.files.map(() => 1));
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
	expect(charges(prompts.stopped)).toEqual([1, 1, 1, 0, 0, 0]);
});

it('sends no creating request from some seconds after a stop during a wave', async () => {
	const execution = await scenes.stoppedAwake;
	expect(execution.status).toBe('canceled');
	expect(createdAtStop).toBeLessThan(prompts.stoppedAwake.length);
	const charged = charges(prompts.stoppedAwake).filter((count) => count > 0);
	expect(charged).toHaveLength(createdAtStop);
});

it('continues with failed items if On Error says so', async () => {
	const execution = await scenes.failing;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const [fine, broken, alsoFine] = itemsOf(execution, 'Images').map(({ json }) => json);
	expect([fine.status, alsoFine.status]).toEqual(['completed', 'completed']);
	expect(broken).toMatchObject({ error_code: 'generation_failed', status: 'failed' });
	expect(broken.error).toContain('Out of paint');
});

it('continues on its own when n8n is killed while it is suspended, killed during a wave, and shut down during a wave', async () => {
	const execution = await scenes.killed;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Images').map(({ json }) => json.status);
	expect(items).toEqual(prompts.killed.map(() => 'completed'));
	expect(charges(prompts.killed)).toEqual(prompts.killed.map(() => 1));
});

it('continues on its own, and charges nothing twice, if n8n treats its sleeping waves as crashed', async () => {
	const execution = await scenes.markedCrashed;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Images').map(({ json }) => json.status);
	expect(items).toEqual(prompts.markedCrashed.map(() => 'completed'));
	expect(charges(prompts.markedCrashed)).toEqual(prompts.markedCrashed.map(() => 1));
});
