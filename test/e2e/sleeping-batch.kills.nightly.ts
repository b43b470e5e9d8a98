/** Kills processes of n8n at random moments while batches and waits are suspended. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seededRandom } from '../../sandbox/basics/random';
import { SleepKills } from './support/sleep-kills';
import { bothModes, Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { Webhook } from './support/webhook';
import { smallImageNode } from './support/workflows';
import type { Step } from './support/workflows';

const minutes = 60_000;
/** Number of processes to kill in each mode. */
const KILLS = Number(process.env.MEDIA_SLEEP_KILLS ?? 4);
/** `npm run bench -- sleep` reads it. */
const folder = outputFolder('sleeping-batch.kills');

const sandbox = { timeScale: 1 };

describe.each(bothModes('sleeping-batch-kills', sandbox))('in %s mode', (mode, options) => {
	let stage: Stage;
	let webhooks: Webhook[];

	beforeAll(async () => {
		stage = await Stage.open(options);
		const { url, keys } = stage.sandbox;
		// This account has slots for all batches.
		const service = { baseUrl: url, apiKey: keys.enterprise };
		const name = 'Media Generation account';
		stage.credential = await stage.rest.saveCredential(name, 'mediaGenerationApi', service);
		const step = smallImageNode(
			{ idempotencyKey: '={{ $json.prompt }}', whileWaiting: 'suspend', maxConcurrent: 3 },
			{ onError: 'continueRegularOutput' },
		);
		const submit = smallImageNode({
			idempotencyKey: '={{ $json.prompt }}',
		});
		Object.assign(submit, { name: 'Submit' });
		submit.parameters = { ...submit.parameters, waitForCompletion: false };
		const wait: Step = {
			name: 'Images',
			type: 'waitForCompletion',
			parameters: { mode: 'suspend' },
			onError: 'continueRegularOutput',
		};
		webhooks = [
			await Webhook.open(stage, 'asleep', [step]),
			await Webhook.open(stage, 'waiting', [submit, wait]),
		];
	}, 5 * minutes);
	afterAll(async () => await stage?.close());

	/** In queue mode, kills main and a worker alternately. */
	async function kill(number: number): Promise<number> {
		if (mode === 'regular' || number % 2 === 0) return await stage.restart();
		return await stage.replaceWorker(((number - 1) / 2) % stage.workers.length);
	}

	const print = ({ tolls, errors }: SleepKills) =>
		process.stdout.write(`${mode}: ${JSON.stringify(tolls)}\n${errors.splice(0).join('\n')}\n`);

	it(
		'batches and waits continue on their own or are reused by the next run, and nothing is charged twice or lost',
		async () => {
			const random = seededRandom(Number(process.env.MEDIA_CRASH_SEED ?? 1));
			const kills = new SleepKills(stage, webhooks, random);
			for (let number = 0; number < KILLS; number++) {
				await kills.kill(async () => await kill(number));
				print(kills);
			}
			const toll = await kills.end();
			print(kills);
			await mkdir(folder, { recursive: true });
			await writeFile(join(folder, `${mode}.json`), JSON.stringify(toll));
			expect(toll).toMatchObject({ refused: 0, twice: 0, lost: 0 });
		},
		(KILLS * 5 + 20) * minutes,
	);
});
