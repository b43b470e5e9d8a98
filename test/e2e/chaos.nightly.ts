/**
 * Load and faults of every kind at once. `npm run bench -- chaos` reads the figures.
 */
import { setMaxListeners } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { ITEMS, LIMIT } from '../support/chaos/troubles';
import { judge } from '../support/chaos/verdict';
import type { RequestLog } from '../../sandbox/books/requests';
import { logNormal } from '../../sandbox/generations/timing';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Campaign, type CallForBatch } from './support/campaign';
import { residentMb } from './support/memory';
import { Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { Troubles } from './support/troubles';
import { Webhook } from './support/webhook';
import { promptsNamed, smallImageNode } from './support/workflows';

const executions = Number(process.env.MEDIA_CHAOS ?? 300);
const asleep = process.env.MEDIA_CHAOS_ASLEEP === '1';

const WORKERS = 3;
const TROUBLE_MS = 240_000;

/** A way to wait for generations, with suitable generations. */
interface Mode {
	/** Median seconds of a generation; durations are log-normal with a sigma of 0.3. */
	seconds: number;
	/** Maximum generations that the account may run at the same time. */
	limit: number;
	/** Time after the faults in which all batches have to finish. */
	calmMs: number;
	open(stage: Stage): Promise<CallForBatch>;
}

const keyed = (whileWaiting: 'poll' | 'suspend') =>
	smallImageNode(
		{ idempotencyKey: '={{ $json.prompt }}', whileWaiting },
		{ onError: 'continueRegularOutput' },
	);

/** Takes ten minutes at most, including the start of n8n. */
const polled: Mode = {
	seconds: 5,
	limit: LIMIT,
	// A key of a killed worker is free after two minutes, and a call that n8n has lost ends after 150 s.
	calmMs: 320_000,
	async open(stage) {
		const webhook = await Webhook.open(stage, 'chaos', [keyed('poll')], 'items');
		/** Give up on a response that takes longer than this. */
		return async (prompts) => await webhook.post(prompts, 150_000);
	},
};

/** Generations that take long enough for the step to suspend, with the same amount of work for each slot. */
const sleeping: Mode = {
	seconds: 60,
	limit: 12 * LIMIT,
	calmMs: 600_000,
	async open(stage) {
		const webhook = await Webhook.open(stage, 'chaos', [keyed('suspend')]);
		return async (prompts) => {
			const id = await webhook.call(prompts);
			const execution = await stage.executions.ended(id);
			if (execution.status !== 'success') {
				throw new Error(`${execution.status}: ${errorOf(execution).split('\n')[0]}`);
			}
			return itemsOf(execution, 'Images').map(({ json }): IDataObject => json);
		};
	},
};

const mode = asleep ? sleeping : polled;

describe(`${executions} executions in queue mode`, () => {
	let stage: Stage;
	beforeAll(async () => {
		stage = await Stage.open({
			name: 'chaos-stage',
			workers: WORKERS,
			sandbox: { timeScale: 1, generationSeconds: logNormal(mode.seconds, 0.3), log: false },
			env: {
				// n8n notices a lost worker within seconds instead of a minute.
				QUEUE_WORKER_LOCK_DURATION: '10000',
				QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
				QUEUE_WORKER_STALLED_INTERVAL: '4000',
				// These workflows do not need the process in which n8n runs untrusted code.
				N8N_RUNNERS_MODE: 'external',
				N8N_RUNNERS_AUTH_TOKEN: 'bench',
			},
		});
		stage.sandbox.service.accounts.account('main').concurrency = mode.limit;
	});
	afterAll(async () => await stage?.close());

	const memory = (): Record<string, number> => ({
		n8n: residentMb(stage.n8n.service.pid),
		...Object.fromEntries(
			stage.workers.map(({ service }, index) => [`worker ${index + 1}`, residentMb(service.pid)]),
		),
		Redis: residentMb(stage.backing.redis.pid),
		'sandbox and tests': residentMb(process.pid),
	});

	it('charges nothing twice, loses nothing, and names every uncertain item', async () => {
		const callForBatch = await mode.open(stage);
		const prompts = Array.from({ length: executions }, (_, index) =>
			promptsNamed(`Batch ${index + 1}`, ITEMS),
		);
		const before = memory();
		const started = Date.now();
		const over = new AbortController();
		// Every batch adds a listener.
		setMaxListeners(0, over.signal);
		const campaign = new Campaign(callForBatch, prompts);
		const troubles = new Troubles(stage);
		const done = campaign.run(over.signal);
		await Promise.race([done, delay(TROUBLE_MS, null, { ref: false })]);
		const openInTrouble = campaign.open;
		await troubles.end();
		await Promise.race([done, delay(mode.calmMs, null, { ref: false })]);
		over.abort();
		const ended = Date.now();
		const verdict = judge(campaign.rows, stage.sandbox.books, mode.limit, ended);
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
			openInTrouble,
			troubles: troublesMet(stage.sandbox.requests),
			...verdict,
			memory: { before, after: memory() },
		};
		await writeFile(join(outputFolder('chaos'), 'queue.json'), JSON.stringify(figures));
		const { generations } = stage.sandbox.books;
		const story = { started, rows: campaign.rows, generations };
		await writeFile(join(stage.folder, 'story.json'), JSON.stringify(story, null, '\t'));
		expect(verdict).toMatchObject({ paidTwice: 0, lost: 0 });
	}, 1_500_000);
});

/** Counts the failed requests by kind of failure. */
function troublesMet(requests: RequestLog): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { fault } of requests.all) if (fault) counts[fault] = (counts[fault] ?? 0) + 1;
	return counts;
}
