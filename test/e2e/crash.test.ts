/**
 * Kills n8n in the middle of a batch whose items have idempotency keys. A batch that sleeps and a suspended wait
 * are awake then. The nightly tests do it again and again.
 */
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { crashRound, keyed, latency } from './support/crash';
import { asleep, awake, SleepingBatches } from './support/sleeping-batches';
import { Stage } from './support/stage';
import { Webhook } from './support/webhook';
import { promptsNamed, submit, suspended } from './support/workflows';

/** At ten times real time, each is longer than a wave stays awake. */
const sleeping = promptsNamed('[seconds: 1000] Asleep', 4);
const looking = '[seconds: 1000] Looked at';

let stage: Stage;
let webhook: Webhook;
let batches: SleepingBatches;
let sleeper: string;
let looker: string;

beforeAll(async () => {
	stage = await Stage.open({ name: 'crash', sandbox: latency });
	webhook = await Webhook.open(stage, 'keyed', [keyed]);
	// Otherwise the batches would wait for each other's slots.
	stage.sandbox.service.accounts.account('main').concurrency = 30;
	batches = new SleepingBatches(stage);
	sleeper = (await batches.begin('Asleep', sleeping, asleep(3))).id;
	looker = (await batches.begin('Suspended', [looking], submit, suspended())).id;
});
afterAll(async () => await stage?.close());

async function kill(): Promise<number> {
	const diedAt = await stage.restart();
	stage.sandbox.faults.clear();
	await webhook.listens();
	return diedAt;
}

it('executions that start at the same moment share one generation for each key', async () => {
	const prompts = promptsNamed('Together', 6);
	const calls = [1, 2, 3].map(async () => await webhook.call(prompts));
	const ids = await Promise.all(calls);
	const ended = await Promise.all(ids.map(async (id) => await stage.executions.ended(id)));
	const handedOn = ended.map((execution) =>
		itemsOf(execution, 'Images').map(({ json }) => json.id),
	);
	expect(prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt))).toEqual(
		prompts.map(() => 1),
	);
	expect(handedOn[0]).toHaveLength(prompts.length);
	expect(handedOn[1]).toEqual(handedOn[0]);
	expect(handedOn[2]).toEqual(handedOn[0]);
});

it('nothing is charged twice and nothing is lost when n8n is killed', async () => {
	for (const id of [sleeper, looker]) await stage.executions.asleep(id);
	await Promise.all(
		['Asleep', 'Looked at'].map(async (words) => await awake(stage.sandbox, words)),
	);
	const toll = await crashRound({ stage, webhook, name: 'Killed' }, 30, kill, () => 0.5);
	expect(toll).toMatchObject({ rounds: 1, twice: 0, lost: 0 });
});

it('a sleeping batch continues on its own when n8n is killed during a wave', async () => {
	const execution = await stage.executions.ended(sleeper);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const items = itemsOf(execution, 'Images').map(({ json }) => json.status);
	expect(items).toEqual(sleeping.map(() => 'completed'));
	expect(batches.charges(sleeping)).toEqual(sleeping.map(() => 1));
});

it('a suspended wait continues on its own when n8n is killed during a status check', async () => {
	const execution = await stage.executions.ended(looker);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Asleep').map(({ json }) => json.status)).toEqual(['completed']);
	expect(batches.charges([looking])).toEqual([1]);
});
