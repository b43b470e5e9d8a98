/** Kills processes in the middle of batches, again and again, in both modes of n8n. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { seededRandom } from '../../sandbox/basics/random';
import { crashRound, keyed, latency, MAX_CONCURRENT, sum } from './support/crash';
import type { Toll } from './support/crash';
import { bothModes, Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { Webhook } from './support/webhook';

/** `npm run bench -- crash` runs more rounds. */
const ROUNDS = Number(process.env.MEDIA_CRASH_ROUNDS ?? 3);
const ITEMS = 30;
/** Only requests that are in flight, or about to be, can be uncertain: at most one for each slot. */
const MOST_UNCERTAIN = MAX_CONCURRENT;
const PATIENCE_MS = 120_000 + ROUNDS * 600_000;

describe.each(bothModes('crash', latency))('in %s mode', (mode, options) => {
	let stage: Stage;
	let webhook: Webhook;

	beforeAll(async () => {
		stage = await Stage.open(options);
		webhook = await Webhook.open(stage, 'keyed', [keyed]);
	});
	afterAll(async () => await stage?.close());

	async function kill(execution: string): Promise<number> {
		const diedAt = await (mode === 'queue' ? stage.replaceWorkerOf(execution) : stage.restart());
		await webhook.listens();
		return diedAt;
	}

	it(
		'nothing is charged twice and nothing is lost when a process is killed',
		async () => {
			const random = seededRandom(Number(process.env.MEDIA_CRASH_SEED ?? 1));
			const tolls: Toll[] = [];
			for (let round = 1; round <= ROUNDS; round++) {
				const name = `Round ${round}`;
				const toll = await crashRound({ stage, webhook, name }, ITEMS, kill, random);
				expect(toll.uncertain).toBeLessThanOrEqual(MOST_UNCERTAIN);
				tolls.push(toll);
				await report(mode, sum(tolls));
			}
			expect(sum(tolls)).toMatchObject({ rounds: ROUNDS, twice: 0, lost: 0 });
		},
		PATIENCE_MS,
	);
});

/** Writes the results for the bench. */
async function report(mode: string, total: Toll): Promise<void> {
	const file = join(outputFolder('crash'), `${mode}.json`);
	await mkdir(dirname(file), { recursive: true });
	await writeFile(file, JSON.stringify(total));
}
