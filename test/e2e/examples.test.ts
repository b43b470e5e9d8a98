/** Runs the examples from their files in a real n8n, with stand-ins for third-party services. */
import { button, play, playAgain, readExample } from './support/examples';
import { getBytes } from '../../tools/http';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow } from '../../tools/n8n/rest';
import { DataTable } from './support/data-table';
import { ObjectStorage } from '../../tools/stand-ins/object-storage';
import { Stage } from './support/stage';

const minutes = 60_000;

let stage: Stage;
let storage: ObjectStorage;
/** Stays suspended while the other examples run. */
let collected: Promise<Execution>;

beforeAll(async () => {
	stage = await Stage.share({ name: 'examples' });
	storage = await ObjectStorage.open(`${stage.folder}/s3`, 'media');
	collected = collectLater();
	collected.catch(() => undefined);
});
afterAll(async () => {
	await stage?.close();
	await storage?.close();
});

/** Runs the example. Two clips take longer than the step waits before it suspends, and one fails at once. */
async function collectLater(): Promise<Execution> {
	const slow = { kind: 'seconds', seconds: 1000 } as const;
	const broken = { kind: 'fail', reason: 'Out of sand' } as const;
	stage.sandbox.faults.order(
		{ on: 'create', match: { promptIncludes: 'lighthouse' }, action: slow },
		{ on: 'create', match: { promptIncludes: 'clockmaker' }, action: slow },
		{ on: 'create', match: { promptIncludes: 'dune' }, action: broken },
	);
	const options = { sleeps: true, timeoutMs: 6 * minutes };
	return await play(stage, await readExample('submit-now-collect-later'), options);
}

/** Returns the bytes of an item's file from n8n. */
async function fileOf(item: ReturnType<typeof itemsOf>[number] | undefined): Promise<Buffer> {
	const file = item?.binary?.data;
	if (!file) throw new Error('The item has no file.');
	return await stage.executions.download(file);
}

describe('scheduled-batch-to-s3', () => {
	const files = ['1-harbor-dawn', '2-market-noon', '3-station-night'].map(
		(name) => `pictures/${name}.png`,
	);
	it('uploads the successful pictures under the IDs and names of their rows, byte for byte', async () => {
		const action = { kind: 'fail', reason: 'Out of oranges' } as const;
		stage.sandbox.faults.order({ on: 'create', match: { promptIncludes: 'market' }, action });
		const credential = await stage.rest.saveCredential('S3 account', 's3', storage.credential);
		const example = await readExample('scheduled-batch-to-s3');
		const execution = await play(stage, example, { credentials: [credential] });

		expect(await storage.names()).toEqual([files[0], files[2]]);
		for (const [index, item] of itemsOf(execution, 'Create Pictures').entries()) {
			const { bytes, type } = await storage.get([files[0], files[2]][index]);
			expect(type).toBe('image/png');
			expect(bytes.equals(await fileOf(item))).toBe(true);
			const { data: served } = await getBytes(String(item.json.url));
			expect(bytes.equals(served)).toBe(true);
		}
		expect(itemsOf(execution, 'Mark as Done').map(({ json }) => json)).toMatchObject([
			{ name: 'harbor-dawn', status: 'completed', file: files[0] },
			{ name: 'station-night', status: 'completed', file: files[2] },
		]);
		const [problem] = itemsOf(execution, 'Note Problem');
		expect(problem.json).toMatchObject({
			name: 'market-noon',
			status: 'failed',
			file: null,
		});
		expect(problem.json.problem).toContain('Out of oranges');
	});
});

describe('scheduled-batch-from-table', () => {
	let workflow: Workflow;
	let table: DataTable;

	beforeAll(async () => {
		workflow = await stage.save(await readExample('scheduled-batch-from-table'));
		table = await DataTable.of(stage.rest, 'image-jobs');
	});

	it('creates its table with three rows, and writes the ID and status of each', async () => {
		const action = { kind: 'fail', reason: 'Out of oranges' } as const;
		const refused = { kind: 'error', code: 'invalid_parameter' } as const;
		stage.sandbox.faults.order(
			{ on: 'create', match: { promptIncludes: 'market' }, action },
			{ on: 'create', match: { promptIncludes: 'station' }, action: refused },
		);
		const execution = await playAgain(stage, workflow);

		const made = itemsOf(execution, 'Create Pictures').map(({ json }) => json.id);
		expect(made[2]).toBeNull();
		const reason = expect.stringContaining('Out of oranges');
		expect(await table.rows()).toMatchObject([
			{ name: 'harbor-dawn', status: 'completed', generation_id: made[0], problem: '' },
			{ name: 'market-noon', status: 'failed', generation_id: made[1], problem: reason },
			{ name: 'station-night', status: 'open', generation_id: null },
		]);
	});

	it('generates only the open row in the next scheduled run, and nothing after that', async () => {
		const { created } = stage.sandbox.books.totals;
		const execution = await playAgain(stage, workflow, { trigger: 'Every Morning' });
		const [written, ...others] = itemsOf(execution, 'Write Result');
		expect(others).toEqual([]);
		expect(written.json).toMatchObject({ name: 'station-night', status: 'completed', problem: '' });
		await playAgain(stage, workflow);
		expect(await table.rows()).toHaveLength(3);
		expect(stage.sandbox.books.totals.created).toBe(created + 1);
	});
});

describe('low-balance-alarm', () => {
	const run = async (workflow: Workflow): Promise<string> =>
		errorOf(await stage.executions.ended(await stage.executions.run(workflow, button)));

	it('raises one alarm a day for each kind of error, and does nothing while there are enough credits', async () => {
		const { accounts } = stage.sandbox.service;
		const { balance } = accounts.account('main');
		const workflow = await stage.save(await readExample('low-balance-alarm'));
		const table = await DataTable.of(stage.rest, 'credit-alarms');
		expect(await run(workflow)).toBe('');
		expect(await table.rows()).toEqual([]);

		// Once is not enough: the node tries again.
		const action = { kind: 'error', code: 'invalid_api_key' } as const;
		stage.sandbox.faults.order({ on: 'credits', action, times: 1 });
		expect(await run(workflow)).toBe('');
		stage.sandbox.faults.order({ on: 'credits', action, times: 3 });
		expect(await run(workflow)).not.toBe('');

		accounts.setCredits('main', 499);
		expect(await run(workflow)).toContain('499 credits left');
		expect(await run(workflow)).toBe('');
		accounts.setCredits('main', balance);
		const [unreadable, low, ...others] = await table.rows();
		expect(others).toEqual([]);
		expect(unreadable.day).toBe(low.day);
		expect(unreadable.code).not.toBe(low.code);
		expect(low).toMatchObject({
			code: 'balance_below_minimum',
			message: expect.stringContaining('499 credits left'),
		});
	});
});

describe('submit-now-collect-later', () => {
	it(
		'suspends, and resumes with the files and the one failure',
		async () => {
			const execution = await collected;
			const items = itemsOf(execution, 'Collect Videos');
			expect(items.map(({ binary }) => binary?.data.fileName)).toEqual([
				'01-lighthouse.mp4',
				'02-workshop.mp4',
				undefined,
			]);
			expect(items[2].json).toMatchObject({ error_code: 'generation_failed', status: 'failed' });
			expect(items[2].json.error).toContain('Out of sand');
			for (const item of items.slice(0, 2)) {
				expect(item.json.status).toBe('completed');
				expect((await fileOf(item)).subarray(4, 8).toString()).toBe('ftyp');
			}
		},
		6 * minutes,
	);
});
