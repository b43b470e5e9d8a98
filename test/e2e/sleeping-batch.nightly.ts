/** Sleeping batches that are stopped, killed, shut down or taken for crashed while they are awake. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Rest } from '../../tools/n8n/rest';
import { startN8n } from '../../tools/n8n/server';
import { errorOf, Executions, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import {
	asleep,
	awake,
	generationSeconds,
	minutes,
	SleepingBatches,
} from './support/sleeping-batches';
import { n8nIn, owner, Stage } from './support/stage';
import { surroundings } from './support/surroundings';
import { until } from './support/until';
import { byHand, promptsNamed, trigger } from './support/workflows';

const prompts = {
	stoppedAwake: promptsNamed('Stopped awake [seconds: 35]', 16),
	failing: ['Fine', 'Broken [fail: Out of paint]', 'Also fine'],
	killed: promptsNamed('Killed', 8),
	markedCrashed: promptsNamed('Marked as crashed [seconds: 100]', 4),
};

let stage: Stage;
let batches: SleepingBatches;
let scenes: Record<keyof typeof prompts, Promise<Execution>>;
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
	batches = new SleepingBatches(stage);
	const failing = { ...asleep(10), onError: 'continueRegularOutput' as const };
	scenes = {
		stoppedAwake: playStoppedAwake(),
		failing: batches.play('Asleep, failing', prompts.failing, failing),
		killed: playKilled(),
		markedCrashed: playMarkedCrashed(),
	};
	await Promise.allSettled(Object.values(scenes));
}, 40 * minutes);
afterAll(async () => await stage?.close());

/** The user stops it during a wave that would create the rest. Generations this short keep the wave awake. */
async function playStoppedAwake(): Promise<Execution> {
	const list = prompts.stoppedAwake;
	const { id, workflowId } = await batches.begin('Stopped awake', list, asleep(2));
	const created = () => batches.charges(list).reduce((sum, count) => sum + count, 0);
	await until('a wave creates the next ones', () => created() > 4, 8 * minutes);
	await stage.executions.stop(id);
	// The wave notices the stop at its next check, and a check takes long on a busy machine. Each item takes 35 s.
	await delay(60_000);
	createdAtStop = created();
	await batches.helpersEnded(workflowId);
	return await stage.executions.ended(id);
}

/**
 * After a crash, n8n marks sleeping executions as crashed for some milliseconds. This is the moment in which it checks
 * whether the waves of a step have ended.
 */
async function playMarkedCrashed(): Promise<Execution> {
	const { id, workflowId } = await batches.begin('Marked', prompts.markedCrashed, asleep(2));
	await stage.executions.asleep(id);
	const { node } = surroundings().installation;
	const marked = `UPDATE execution_entity SET status = 'crashed' WHERE id =
		(SELECT MAX(id) FROM execution_entity WHERE workflowId = ? AND waitTill NOT LIKE '2999%') RETURNING id`;
	const script = `
		const { DatabaseSync } = require('node:sqlite');
		const database = new DatabaseSync(${JSON.stringify(join(stage.data, 'n8n/.n8n/database.sqlite'))}, { timeout: 20_000 });
		console.log(database.prepare(${JSON.stringify(marked)}).get(${JSON.stringify(workflowId)}).id);`;
	const { stdout, stderr } = spawnSync(node, ['-e', script], { encoding: 'utf8' });
	if (!(Number(stdout) > Number(id)))
		throw new Error(`No helper workflow was marked: ${stdout}${stderr}`);
	const ended = await stage.executions.ended(id);
	await batches.helpersEnded(workflowId);
	return ended;
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
		for (const [signal, isAwake] of deaths) {
			if (isAwake) await awake(stage.sandbox, 'Killed');
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
const deaths: Array<[signal: NodeJS.Signals, isAwake: boolean]> = [
	['SIGKILL', false],
	['SIGKILL', true],
	['SIGTERM', true],
];

async function signedIn({ url }: { url: string }): Promise<Rest> {
	const rest = new Rest(url);
	await rest.signIn(owner);
	return rest;
}

it('sends no creating request from some seconds after a stop during a wave', async () => {
	const execution = await scenes.stoppedAwake;
	expect(execution.status).toBe('canceled');
	expect(createdAtStop).toBeLessThan(prompts.stoppedAwake.length);
	const charged = batches.charges(prompts.stoppedAwake).filter((count) => count > 0);
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
	expect(batches.charges(prompts.killed)).toEqual(prompts.killed.map(() => 1));
});

it('continues on its own, and charges nothing twice, if n8n treats its sleeping waves as crashed', async () => {
	const execution = await scenes.markedCrashed;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Images').map(({ json }) => json.status);
	expect(items).toEqual(prompts.markedCrashed.map(() => 'completed'));
	expect(batches.charges(prompts.markedCrashed)).toEqual(prompts.markedCrashed.map(() => 1));
});
