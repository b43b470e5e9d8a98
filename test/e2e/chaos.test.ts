/** Load and trouble of every kind at once, for `npm run bench -- chaos`: without it, nothing runs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logNormal } from '../../sandbox/generations/timing';
import { Campaign } from './support/campaign';
import { residentMb } from './support/memory';
import { Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { steadyTroubles, Troubles } from './support/troubles';
import { judge } from './support/verdict';
import { Webhook } from './support/webhook';
import { imageNode, promptsNamed } from './support/workflows';

const executions = Number(process.env.MEDIA_CHAOS ?? 0);
const asked = executions > 0 ? describe : describe.skip;

const WORKERS = 3;
const ITEMS = 5;
const LIMIT = 25;
/** The executions come in over so long, at the pace of 300 in three minutes. */
const COME_IN_MS = executions * 600;
/** With the start of n8n it is eight minutes in all. */
const MOST_MS = 420_000;

const keyed = imageNode(
	{ idempotencyKey: '={{ $json.prompt }}' },
	{ onError: 'continueRegularOutput' },
);
const small = { ...keyed, parameters: { ...keyed.parameters, size: '256x256' } };

asked(`${executions} executions in queue mode`, () => {
	let stage: Stage;
	beforeAll(async () => {
		stage = await Stage.open({
			name: 'chaos-stage',
			workers: WORKERS,
			sandbox: { timeScale: 1, generationSeconds: logNormal(3.5, 0.3), log: false },
			env: {
				// A worker that has gone is noticed within seconds instead of a minute.
				QUEUE_WORKER_LOCK_DURATION: '10000',
				QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
				QUEUE_WORKER_STALLED_INTERVAL: '4000',
			},
		});
		stage.sandbox.service.accounts.account('main').concurrency = LIMIT;
	});
	afterAll(async () => await stage?.close());

	const memory = (): Record<string, number> => ({
		n8n: residentMb(stage.n8n.service.pid),
		...Object.fromEntries(
			stage.workers.map(({ service }, index) => [`worker ${index + 1}`, residentMb(service.pid)]),
		),
		Redis: residentMb(stage.backing.redis.pid),
		sandbox: residentMb(process.pid),
	});

	it('pays nothing twice, loses nothing, and names what is uncertain', async () => {
		const webhook = await Webhook.open(stage, 'chaos', small);
		const { books, requests, faults } = stage.sandbox;
		const prompts = Array.from({ length: executions }, (_, index) =>
			promptsNamed(`Batch ${index + 1}`, ITEMS),
		);
		const before = memory();
		faults.order(...steadyTroubles);
		const started = Date.now();
		const campaign = new Campaign(stage, webhook, prompts, COME_IN_MS);
		const troubles = new Troubles(stage);
		await campaign.run(MOST_MS);
		const ended = Date.now();
		await troubles.end();
		const verdict = judge(campaign.rows, books, requests, LIMIT, ended);
		const { kills, redisRestarts, goneSeconds } = troubles;
		const { again, endedBadly } = campaign;
		await mkdir(outputFolder('chaos'), { recursive: true });
		const figures = {
			executions,
			seconds: (ended - started) / 1000,
			again,
			endedBadly,
			kills,
			redisRestarts,
			goneSeconds,
			...verdict,
			memory: { before, after: memory() },
		};
		await writeFile(join(outputFolder('chaos'), 'queue.json'), JSON.stringify(figures));
		await writeFile(join(stage.folder, 'rows.json'), JSON.stringify(campaign.rows, null, '\t'));
		expect(verdict).toMatchObject({ paidTwice: 0, lost: 0, open: 0 });
	}, 600_000);
});
