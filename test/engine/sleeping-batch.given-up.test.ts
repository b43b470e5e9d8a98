import { wallClock } from '../../nodes/shared/http/clock';
import type { Run } from '../../tools/engine';
import { kill, killWave, sleepToEnd, wavesOf, wake, nextOf } from './asleep';
import { asleep, boats, continues, items, openKeyedStage } from './keyed';

/** Suspended batches that end before all of their items have. */

/** The names of the helper workflows that n8n refuses to start, after the first of each. */
const mockRefused = new Set<string>();
const mockStarted = new Set<string>();
jest.mock('../../nodes/shared/helper-workflow', () => {
	const actual = jest.requireActual<typeof import('../../nodes/shared/helper-workflow')>(
		'../../nodes/shared/helper-workflow',
	);
	const runHelper: typeof actual.runHelper = async (context, code, ...args) => {
		if (mockRefused.has(code.name) && mockStarted.has(code.name))
			throw new Error('Not another one');
		mockStarted.add(code.name);
		return await actual.runHelper(context, code, ...args);
	};
	return { ...actual, runHelper };
});
beforeEach(() => [mockRefused, mockStarted].forEach((names) => names.clear()));

const { stage, created, execute, rows } = openKeyedStage();

/** Runs the next wave of a batch while n8n has not stored that the step sleeps. */
async function wakeUnseen(asleep: Run): Promise<void> {
	const { data } = asleep.record.state;
	const { waitTill } = data;
	data.waitTill = undefined;
	const wave = nextOf(stage, asleep);
	stage.leap(((wave.waitTill?.getTime() ?? 0) - wallClock.now()) / 1000);
	await stage.engine.resume(wave);
	data.waitTill = waitTill;
}

it('an item that failed at no charge keeps that error if a wave cannot see the sleeping step', async () => {
	const list = items(
		['a', 'a boat [seconds: 300]'],
		['b', 'a ship [reject: invalid_parameter]'],
		['c', 'a raft [seconds: 300]'],
	);
	const first = await execute(list, asleep(), continues);
	await wakeUnseen(first);
	const end = await sleepToEnd(stage, first);
	const output = end.output('Step').map(({ json }) => json);
	expect(output.map(({ error_code: code }) => code)).toEqual([
		'batch_interrupted',
		'invalid_parameter',
		'batch_interrupted',
	]);
	expect(output[1].error).toContain('Nothing was charged');
	expect([output[0].id, output[2].id]).toEqual(rows().map((row) => row.generation_id));
});

describe('if n8n does not start the waves again', () => {
	beforeEach(() => mockRefused.add('Step: waves'));

	/** One wave runs, and then n8n is killed. */
	async function endOf(settings = {}): Promise<Run> {
		const list = items(
			...[1, 2, 3, 4].map((n): [string, string] => [`k${n}`, `boat ${n} [seconds: 200]`]),
		);
		let run = await execute(list, asleep({ maxConcurrent: 1 }), settings);
		while (created() < 2) run = await wake(stage, run);
		kill(wavesOf(stage, run));
		return await stage.engine.resume(run);
	}

	it('nothing more is created, and each item is an error that names its generation', async () => {
		const end = await endOf(continues);
		const made = stage.sandbox.books.generations.map(({ id }) => id);
		expect(made).toHaveLength(2);
		const output = end.output('Step').map(({ json }) => json);
		expect(output.map(({ id }) => id)).toEqual([...made, null, null]);
		for (const json of output) {
			expect(json).toMatchObject({ error_code: 'batch_interrupted' });
			expect(json.error).toContain('Not another one');
		}
	});
});

it('results that n8n does not fetch again end the batch after five tries, and each item names its generation', async () => {
	mockRefused.add('Step: results');
	let run = await execute(boats(2), asleep(), continues);
	while (nextOf(stage, run).record.workflow.name !== 'Step: results') run = await wake(stage, run);
	killWave(stage, run);
	const end = await sleepToEnd(stage, await stage.engine.resume(run));
	const output = end.output('Step').map(({ json }) => json);
	expect(output.map(({ id }) => id)).toEqual(rows().map((row) => row.generation_id));
	for (const { error, error_code: code } of output) {
		expect(code).toBe('batch_interrupted');
		expect(error).toContain('5 helper executions in a row failed');
	}
});
