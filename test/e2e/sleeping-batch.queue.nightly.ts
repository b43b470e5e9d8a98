/** A suspended batch in queue mode: the main process and a worker are killed, and the batch continues on its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { lossNoticedSoon, Stage } from './support/stage';
import { until } from './support/until';
import { Webhook } from './support/webhook';
import { imageNode, promptsNamed, small } from './support/workflows';

const minutes = 60_000;
const prompts = promptsNamed('Queued asleep', 8);

let stage: Stage;
let ended: Promise<Execution>;

beforeAll(async () => {
	stage = await Stage.open({
		name: 'sleeping-batch-queue',
		workers: 2,
		sandbox: { generationSeconds: 100, timeScale: 1 },
		env: lossNoticedSoon,
	});
	ended = play();
	await Promise.allSettled([ended]);
}, 40 * minutes);
afterAll(async () => await stage?.close());

async function play(): Promise<Execution> {
	const { parameters, ...node } = imageNode({ idempotencyKey: '={{ $json.prompt }}' });
	const runOptions = { whileWaiting: 'suspend', maxConcurrent: 4 };
	const asleep = { ...node, parameters: small({ ...parameters, runOptions }) };
	const id = await (await Webhook.open(stage, 'asleep', [asleep])).call(prompts);
	await stage.executions.asleep(id);
	await stage.restart();
	await stage.replaceWorkerOf(await awakeWave());
	stage.sandbox.faults.clear();
	return await stage.executions.ended(id);
}

/**
 * Waits until a wave checks a status, and delays the response.
 *
 * @returns the execution of the wave
 */
async function awakeWave(): Promise<string> {
	const { faults, requests } = stage.sandbox;
	const hanging = () => requests.all.filter(({ fault }) => fault === 'hang').length;
	const before = hanging();
	const match = { promptIncludes: prompts[0].slice(0, 6) };
	faults.order({ on: 'status', match, times: 'always', action: { kind: 'hang' } });
	await until('a wave is awake', () => hanging() > before, 8 * minutes);
	// By then, its creating requests have been answered.
	await delay(3000);
	const { results } = await stage.rest.send<{ results: Array<{ id: string; status: string }> }>(
		'GET',
		'/executions?limit=50',
	);
	const wave = results.find(({ status }) => status === 'running');
	if (!wave) throw new Error('No wave is running.');
	return wave.id;
}

it('continues on its own when main is killed while it is suspended, and a worker during a wave', async () => {
	const execution = await ended;
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Images');
	expect(items.map(({ json }) => json.status)).toEqual(prompts.map(() => 'completed'));
	const charges = prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
	expect(charges).toEqual(prompts.map(() => 1));
	for (const { binary } of items) {
		const bytes = await stage.executions.download(binary?.data as never);
		expect(bytes.subarray(1, 4).toString()).toBe('PNG');
	}
});
