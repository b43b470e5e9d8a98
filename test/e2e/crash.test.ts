/** Kills n8n in the middle of a batch whose items have idempotency keys. The nightly tests do it again and again. */
import { itemsOf } from '../../tools/n8n/executions';
import { crashRound, keyed, latency } from './support/crash';
import { Stage } from './support/stage';
import { Webhook } from './support/webhook';
import { promptsNamed } from './support/workflows';

let stage: Stage;
let webhook: Webhook;

beforeAll(async () => {
	stage = await Stage.open({ name: 'crash', sandbox: latency });
	webhook = await Webhook.open(stage, 'keyed', [keyed]);
});
afterAll(async () => await stage?.close());

async function kill(): Promise<number> {
	const diedAt = await stage.restart();
	await webhook.listens();
	return diedAt;
}

it('nothing is charged twice and nothing is lost when n8n is killed', async () => {
	const toll = await crashRound({ stage, webhook, name: 'Killed' }, 30, kill, () => 0.5);
	expect(toll).toMatchObject({ rounds: 1, twice: 0, lost: 0 });
});

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
