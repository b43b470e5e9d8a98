import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import type { Run } from '../../tools/engine';
import { sleepToEnd, wake, nextOf } from './asleep';
import { items, openKeyedStage } from './keyed';

/** Suspended batches whose expressions, table and service change between waves. */

const { stage, tables, created, execute, rows } = openKeyedStage();

const asleep = (idempotencyKey = '={{ $json.key }}', runOptions: IDataObject = {}) =>
	({
		downloadOutput: false,
		options: { idempotencyKey },
		runOptions: { whileWaiting: 'suspend', maxConcurrent: 2, ...runOptions },
	}) as INodeParameters;
const boats = items(['a', 'a boat [seconds: 300]'], ['b', 'a ship [seconds: 300]']);
const ended = (run: Run) =>
	run.output('Step').map(({ json: { id, status, error } }) => ({ id, status, error }));
const bothCompleted = () =>
	rows().map(({ generation_id: id }) => ({ id, status: 'completed', error: undefined }));
const idOf = (key: string) => String(rows().find((row) => row.key === key)?.generation_id);

it('pays once for a key with a random part, which differs each time it is evaluated', async () => {
	const first = await execute(boats, asleep('={{ $json.key }}-{{ Math.random() }}'));
	const end = await sleepToEnd(stage, first);
	expect([end.status, created()]).toEqual(['success', 2]);
	expect(ended(end)).toEqual(bothCompleted());
});

it('marks the row of a generation that is completed without an output as completed', async () => {
	const [boat, ship] = boats;
	const lost = { ...boat, prompt: `${String(boat.prompt)} [no-url]` };
	const first = await execute([lost, ship], asleep(), { onError: 'continueRegularOutput' });
	const end = await sleepToEnd(stage, first);
	expect(end.output('Step').map(({ json }) => json.error_code)).toEqual([
		'output_missing',
		undefined,
	]);
	expect(rows().map(({ status }) => status)).toEqual(['completed', 'completed']);
});

it('the error of a batch that cannot go on without its table names the IDs', async () => {
	const first = await execute(boats, asleep());
	const ids = [idOf('a'), idOf('b')];
	tables.refusal = 'Attempted to use Data table node but the module is disabled';
	const { error } = await sleepToEnd(stage, first);
	const said = JSON.stringify([error?.message, (error as { description?: string }).description]);
	ids.forEach((id) => expect(said).toContain(id));
	expect(said).not.toContain(' of 1');
});

it('a generation of another execution times out as an own one does', async () => {
	const long = items(['a', 'a boat [seconds: 900000]']);
	const stopped = await execute(long, asleep());
	const manually = new Error('The execution was cancelled manually');
	stopped.record.state.data.resultData.error = manually as never;
	stage.leap(3600);
	const began = wallClock.now();
	const again = await execute(long, asleep(undefined, { timeout: 900, onTimeout: 'continue' }));
	const end = await sleepToEnd(stage, again);
	expect(end.output('Step')).toMatchObject([{ json: { id: idOf('a'), timed_out: true } }]);
	expect([created(), wallClock.now() - began < 3_600_000]).toEqual([1, true]);
	expect(wallClock.now() - began).toBeGreaterThanOrEqual(900_000);
});

describe('a table that fails after the requests of a wave', () => {
	/** Makes the table reject all changes until `refusal` is set to `null` again. */
	function refuseUpdates(): void {
		tables.before = (operation) => {
			if (operation === 'update') throw new Error('the table takes no changes');
		};
	}

	it('loses no generation: the next wave collects it, and writes its ID', async () => {
		refuseUpdates();
		const first = await execute(boats, asleep());
		expect([first.status, created()]).toEqual(['waiting', 2]);
		expect(rows().map(({ generation_id: id }) => id || '')).toEqual(['', '']);
		tables.before = () => undefined;
		const end = await sleepToEnd(stage, first);
		expect([end.status, created()]).toEqual(['success', 2]);
		expect(ended(end)).toEqual(bothCompleted());
		expect(rows().map(({ status }) => status)).toEqual(['completed', 'completed']);
	});

	it('has the IDs in n8n’s log if the batch is stopped while it sleeps', async () => {
		refuseUpdates();
		const first = await execute(boats, asleep());
		first.record.state.data.resultData.error = new Error('Stopped') as never;
		stage.leap(600);
		const stopped = await stage.engine.resume(nextOf(stage, first));
		for (const { id } of stage.sandbox.books.generations) {
			expect(stopped.logs.some(({ message }) => message.includes(id))).toBe(true);
		}
	});

	it('generates again what has failed in the meantime', async () => {
		const broken = items(['a', 'a boat [seconds: 300] [fail: out of paint]']);
		refuseUpdates();
		const first = await execute(broken, asleep(undefined, { retriesOnFailure: 1 }));
		tables.before = () => undefined;
		const end = await sleepToEnd(stage, first);
		expect(end.error?.message).toContain('out of paint');
		expect([created(), rows().length]).toEqual([2, 2]);
	});
});

describe('a 404 for an existing generation', () => {
	const gone = { kind: 'error', code: 'generation_not_found' } as const;

	it('in a wave is transient', async () => {
		const first = await execute(boats, asleep());
		stage.sandbox.faults.order({ on: 'status', match: { id: idOf('a') }, action: gone });
		const end = await sleepToEnd(stage, first);
		expect([end.status, created()]).toEqual(['success', 2]);
		expect(ended(end)).toEqual(bothCompleted());
	});

	it('while the results are fetched is transient', async () => {
		let last = await execute(boats, asleep());
		while (rows().some(({ status }) => status !== 'completed')) last = await wake(stage, last);
		stage.sandbox.faults.order({ on: 'status', match: { id: idOf('a') }, action: gone });
		const end = await sleepToEnd(stage, last);
		expect([end.status, end.error?.message]).toEqual(['success', undefined]);
		expect(ended(end)).toEqual(bothCompleted());
	});

	it('that persists names the ID and the key', async () => {
		const first = await execute(boats, asleep());
		stage.sandbox.faults.order({
			on: 'status',
			times: 'always',
			match: { id: idOf('a') },
			action: gone,
		});
		const end = await sleepToEnd(stage, first);
		const description = String((end.error as { description?: string }).description);
		expect(end.error?.message).toContain(idOf('a'));
		expect(description).not.toContain('Nothing was charged');
		expect(description).toContain(idOf('b'));
	});
});
