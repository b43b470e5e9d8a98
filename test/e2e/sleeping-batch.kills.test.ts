/** n8n is killed at random moments while several sleeping batches are under way. */
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../../sandbox/basics/random';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { Webhook } from './support/webhook';
import { imageNode } from './support/workflows';

const minutes = 60_000;
/** Kills. Each of them meets every batch at another point. None, unless they are asked for. */
const KILLS = Number(process.env.MEDIA_SLEEP_KILLS ?? 0);
const asked = KILLS > 0 ? describe : describe.skip;
const BATCHES = 6;
const ITEMS = 6;
const random = seededRandom(Number(process.env.MEDIA_CRASH_SEED ?? 1));

let stage: Stage;
let webhook: Webhook;

function promptsOf(kill: number, batch: number): string[] {
	return Array.from({ length: ITEMS }, (_, item) => {
		const seconds = 60 + Math.floor(random() * 60);
		return `[seconds: ${seconds}] ${kill}.${batch}.${item}`;
	});
}

asked('n8n is killed at random', () => {
	beforeAll(async () => {
		stage = await Stage.open({ name: 'sleeping-batch-kills', sandbox: { timeScale: 1 } });
		const { url, keys } = stage.sandbox;
		const data = { baseUrl: url, apiKey: keys.enterprise };
		stage.credential = await stage.rest.saveCredential(
			'Media Generation account',
			'mediaGenerationApi',
			data,
		);
		const { parameters, ...node } = imageNode({ idempotencyKey: '={{ $json.prompt }}' });
		const runOptions = { whileWaiting: 'suspend', maxConcurrent: 3 };
		webhook = await Webhook.open(stage, 'asleep', [
			{ ...node, parameters: { ...parameters, size: '256x256', runOptions } },
		]);
	});
	afterAll(async () => await stage?.close());

	it(
		'batches continue by themselves, or are reused by the next run, and nothing is charged twice or lost',
		async () => {
			const tally = { killed: 0, healed: 0, failed: 0, reused: 0, twice: 0, lost: 0 };
			const errors: string[] = [];
			for (let kill = 0; kill < KILLS; kill++) {
				const batches = Array.from({ length: BATCHES }, (_, batch) => promptsOf(kill, batch));
				const ids: string[] = [];
				for (const prompts of batches) {
					ids.push(await webhook.call(prompts));
					await delay(random() * 15_000);
				}
				await delay(random() * 90_000);
				const before = await Promise.all(ids.map(async (id) => await stage.executions.read(id)));
				await stage.restart();
				await webhook.listens();
				const ended: Execution[] = [];
				for (const id of ids) ended.push(await stage.executions.ended(id, 12 * minutes, 1000));
				for (const [index, execution] of ended.entries()) {
					const underWay = ['new', 'running', 'waiting'].includes(before[index].status);
					if (underWay) tally.killed++;
					let last = execution;
					if (execution.status !== 'success') {
						tally.failed++;
						errors.push(`${execution.status} ${errorOf(execution).slice(0, 200)}`);
						const again = await webhook.call(batches[index]);
						last = await stage.executions.ended(again, 12 * minutes, 1000);
						if (last.status === 'success') tally.reused++;
					} else if (underWay) tally.healed++;
					const ids = itemsOf(last, 'Images').map(({ json }) => json.id);
					for (const [item, prompt] of batches[index].entries()) {
						const paid = stage.sandbox.books.generations.filter(
							(one) => one.prompt === prompt && one.refunded === 0,
						);
						if (paid.length > 1) tally.twice++;
						if (paid.length > 0 && ids[item] !== paid[0].id && last.status === 'success')
							tally.lost++;
					}
				}
				process.stdout.write(`${JSON.stringify(tally)}\n${errors.join('\n')}\n`);
			}
			expect(tally).toMatchObject({ twice: 0, lost: 0 });
			expect(tally.healed + tally.failed).toBe(tally.killed);
		},
		KILLS * 20 * minutes,
	);
});
