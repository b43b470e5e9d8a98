/** Many executions in one n8n. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { http } from '../../tools/http';
import { freePorts } from '../../tools/n8n/ports';
import { Stage } from './support/stage';
import { outputFolder } from './support/surroundings';
import { until } from './support/until';
import { Webhook } from './support/webhook';
import { handBuilt, promptsNamed, smallImageNode } from './support/workflows';
import type { Step } from './support/workflows';

const executions = Number(process.env.MEDIA_SOAK ?? 300);

const ITEMS = 2;
const SECONDS = 2;
const EVERY_MS = 1000;
/** Number of executions that first load code and fill caches. */
const WARM_UP = 30;
const SAMPLE_EVERY = 20;
/** Time for the connections that n8n keeps open for a while. */
const REST_MS = 20_000;

/** The report of `insight.mjs` about n8n: bytes after a garbage collection, and the number of resources by name. */
interface Insight {
	rss: number;
	heapUsed: number;
	resources: Record<string, number>;
	/** Living objects of the package's classes, if requested. */
	own: Record<string, number>;
}

/** Generates the same pictures with the package and with n8n's own nodes, to tell which memory is n8n's. */
const ways: Array<[name: string, steps: (service: string) => Step[]]> = [
	['package', () => [smallImageNode({ idempotencyKey: '={{ $json.prompt }}' })]],
	['without', (service) => handBuilt(service, SECONDS)],
];

describe.each(ways)(`${executions} executions, one after the other: %s`, (name, steps) => {
	let stage: Stage;
	let insight = '';
	beforeAll(async () => {
		const [port] = await freePorts(1);
		insight = `http://127.0.0.1:${port}`;
		stage = await Stage.open({
			name: `soak-stage-${name}`,
			sandbox: { timeScale: 1, generationSeconds: SECONDS, log: false },
			env: {
				NODE_OPTIONS: `--import ${join(__dirname, 'support', 'insight.mjs')}`,
				MEDIA_INSIGHT_PORT: String(port),
			},
		});
		stage.sandbox.service.accounts.account('main').concurrency = 25;
	});
	afterAll(async () => await stage?.close());

	const look = async (path = '/') => (await http.get<Insight>(insight + path)).data;

	async function atRest(expected: number): Promise<Insight> {
		const { books } = stage.sandbox;
		await until('all are made', () => books.totals.completed === expected, 300_000);
		await delay(REST_MS);
		return await look('/objects');
	}

	it('leaves nothing in memory', async () => {
		const webhook = await Webhook.open(stage, 'soak', steps(stage.sandbox.url));
		let called = 0;
		const callEverySecond = async (count: number, after: (number: number) => Promise<void>) => {
			const begun = Date.now();
			for (let number = 1; number <= count; number++) {
				await webhook.post(promptsNamed(`Execution ${++called}`, ITEMS));
				await after(number);
				await delay(Math.max(0, begun + number * EVERY_MS - Date.now()));
			}
		};
		await callEverySecond(WARM_UP, async () => {});
		const before = await atRest(called * ITEMS);
		const samples: Array<{ executions: number; heapUsed: number; rss: number }> = [];
		const started = Date.now();
		await callEverySecond(executions, async (number) => {
			if (number % SAMPLE_EVERY !== 0) return;
			const { heapUsed, rss } = await look();
			samples.push({ executions: number, heapUsed, rss });
		});
		const seconds = (Date.now() - started) / 1000;
		const after = await atRest(called * ITEMS);
		await mkdir(outputFolder('soak'), { recursive: true });
		const figures = { executions, items: ITEMS, seconds, before, samples, after };
		await writeFile(join(outputFolder('soak'), `${name}.json`), JSON.stringify(figures));
		expect(stage.sandbox.books.totals.created).toBe(called * ITEMS);
	}, 1_800_000);
});
