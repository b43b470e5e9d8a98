/** The overhead of idempotency keys. `npm run bench -- price` reads the figures. */
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import type { StageOptions } from './support/stage';
import { outputFolder } from './support/surroundings';
import { buildProbe, probeWorkflow } from './support/table-probe';
import { Webhook } from './support/webhook';
import { promptsNamed, smallImageNode, trigger } from './support/workflows';

/** A journal after long use: older releases of n8n limit all data tables to 50 MB, which these rows fill. */
const MANY_ROWS = 100_000;

interface Case {
	mode: string;
	stage: StageOptions;
	/** Number of executions at once. Each has this many items, and each item takes this many seconds. */
	executions: number;
	items: number;
	seconds: number;
	concurrency: number;
}

const cases: Case[] = [
	{
		mode: 'regular, SQLite',
		stage: { name: 'price-regular' },
		executions: 1,
		items: 100,
		seconds: 10,
		concurrency: 10,
	},
	{
		mode: 'two workers, PostgreSQL',
		stage: { name: 'price-queue', workers: 2 },
		executions: 4,
		items: 100,
		seconds: 2,
		concurrency: 40,
	},
	{
		mode: 'two workers, PostgreSQL',
		stage: { name: 'price-queue-60', workers: 2 },
		executions: 4,
		items: 100,
		seconds: 2,
		concurrency: 60,
	},
	{
		mode: 'the same, isolates only for expressions',
		stage: {
			name: 'price-queue-lazy',
			workers: 2,
			env: { N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE: 'true' },
		},
		executions: 4,
		items: 100,
		seconds: 2,
		concurrency: 60,
	},
];

describe.each(cases)('$mode, $concurrency slots', ({ mode, stage: options, ...batch }) => {
	let stage: Stage;
	const extension = join(tmpdir(), `table-probe-${process.pid}`);

	beforeAll(async () => {
		const sandbox = { timeScale: 1, generationSeconds: batch.seconds };
		const env = { ...options.env, N8N_CUSTOM_EXTENSIONS: extension };
		await buildProbe(extension);
		stage = await Stage.open({ ...options, sandbox, env });
		stage.sandbox.service.accounts.account('main').concurrency = batch.concurrency;
	});
	afterAll(async () => await stage?.close());

	/** Returns the seconds from the start of the first execution to the end of the last one. */
	async function makespan(webhook: Webhook, name: string): Promise<number> {
		stage.sandbox.reset();
		stage.sandbox.service.accounts.account('main').concurrency = batch.concurrency;
		const ids: string[] = [];
		for (let number = 1; number <= batch.executions; number++) {
			ids.push(await webhook.call(promptsNamed(`${name} ${number}`, batch.items)));
		}
		const ended = await Promise.all(ids.map(async (id) => await stage.executions.ended(id)));
		for (const execution of ended) {
			expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
			expect(itemsOf(execution, 'Images').every(({ json }) => json.status === 'completed')).toBe(
				true,
			);
		}
		const starts = ended.map(({ startedAt }) => Date.parse(startedAt));
		const stops = ended.map(({ stoppedAt }) => Date.parse(String(stoppedAt)));
		return (Math.max(...stops) - Math.min(...starts)) / 1000;
	}

	/** Adds rows of other executions to the journal. */
	async function fill(rows: number): Promise<void> {
		const workflow = await stage.save(probeWorkflow(rows));
		const id = await stage.executions.run(workflow, trigger);
		const filled = await stage.executions.ended(id);
		expect([filled.status, errorOf(filled)]).toEqual(['success', '']);
	}

	it('measures the cost', async () => {
		const maxConcurrent = batch.concurrency / batch.executions;
		const plain = await Webhook.open(stage, 'plain', [smallImageNode({ maxConcurrent })]);
		const idempotencyKey = '={{ $json.prompt }}';
		const keyed = await Webhook.open(stage, 'keyed', [
			smallImageNode({ maxConcurrent, idempotencyKey }),
		]);
		// Measurements of more than a minute differ by less than a percent.
		const rounds = batch.seconds < 10 ? Number(process.env.MEDIA_BENCH ?? 1) : 1;
		const without: number[] = [];
		const withKeys: number[] = [];
		for (let round = 1; round <= rounds; round++) {
			without.push(await makespan(plain, `Plain ${round}`));
			withKeys.push(await makespan(keyed, `Keyed ${round}`));
		}
		await fill(MANY_ROWS);
		const besideMany: number[] = [];
		for (let round = 1; round <= rounds; round++) {
			besideMany.push(await makespan(keyed, `Beside many ${round}`));
		}
		const figures = { without, withKeys, besideMany };
		const file = join(outputFolder('price'), `${options.name}.json`);
		await mkdir(outputFolder('price'), { recursive: true });
		await writeFile(file, JSON.stringify({ mode, ...batch, ...figures }));
	}, 3_600_000);
});
