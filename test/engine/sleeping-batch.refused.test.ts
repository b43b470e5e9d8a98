import { wallClock } from '../../nodes/shared/http/clock';
import type { Run } from '../../tools/engine';
import { items, openKeyedStage } from './keyed';

/** Runs when n8n refuses a helper workflow. */
const mockRefusal = { action: () => {} };
jest.mock('../../nodes/shared/helper-workflow', () => ({
	...jest.requireActual<object>('../../nodes/shared/helper-workflow'),
	runHelper: async () => {
		mockRefusal.action();
		await Promise.reject(new Error('No helper workflows here'));
	},
}));

const { created, execute, tables } = openKeyedStage();

const parameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 2, maxNewGenerations: 2 },
};

const hintsOf = (run: Run) => run.hints('Step').map(({ message }) => message);

it('a batch that n8n cannot suspend is polled, says so, and keeps its spending limit', async () => {
	const list = items(['a', 'x [seconds: 90]'], ['b', 'y [seconds: 90]'], ['c', 'z [seconds: 90]']);
	const run = await execute(list, parameters, { onError: 'continueRegularOutput' });
	const codes = run.output('Step').map(({ json }) => json.error_code ?? json.status);
	expect(codes).toEqual(['completed', 'completed', 'generation_limit_reached']);
	expect(created()).toBe(2);
	expect(hintsOf(run)).toEqual([
		'Polled instead of suspending, because n8n could not suspend the execution: No helper workflows here',
		expect.stringMatching(
			/^2 of 3 ready\. 1 was skipped at no charge: The limit of 2 new generations is reached\.( 1 request was retried\.)?$/,
		),
	]);
});

it('a batch that n8n cannot suspend keeps its retries, and waits no longer than its timeout', async () => {
	const list = items(
		['a', 'x [seconds: 90] [fail: no]'],
		['b', 'y [seconds: 90]'],
		['c', 'z [seconds: 9000]'],
	);
	const runOptions = {
		whileWaiting: 'suspend',
		retriesOnFailure: 1,
		timeout: 300,
		onTimeout: 'continue',
	};
	const began = wallClock.now();
	const run = await execute(
		list,
		{ ...parameters, runOptions },
		{ onError: 'continueRegularOutput' },
	);
	expect(run.output('Step').map(({ json }) => [json.status, json.timed_out])).toEqual([
		['failed', false],
		['completed', false],
		['processing', true],
	]);
	expect(run.output('Step')[0].json.error).toContain('2 generations of this item failed');
	expect(created()).toBe(4);
	expect((wallClock.now() - began) / 1000).toBeLessThan(1000);
});

it('a batch that n8n cannot suspend does not make a failed item again, even if the table cannot be read then', async () => {
	let failures = 0;
	mockRefusal.action = () => {
		tables.before = () => {
			// A read is tried twice.
			if (failures++ < 2) throw new Error('The module is disabled');
		};
	};
	const list = items(['a', 'x [seconds: 5] [fail: no]'], ['b', 'y [seconds: 90]']);
	const runOptions = { whileWaiting: 'suspend' };
	const run = await execute(
		list,
		{ ...parameters, runOptions },
		{ onError: 'continueRegularOutput' },
	);
	expect(run.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
		'generation_failed',
		'completed',
	]);
	expect(failures).toBeGreaterThan(0);
	expect(created()).toBe(2);
});

it('a batch that its first wave ended with an error leaves no timer of its table behind', async () => {
	const sleep = jest.spyOn(wallClock, 'sleep');
	const list = items(['a', 'x [seconds: 5] [fail: no]'], ['b', 'y [seconds: 90]']);
	const run = await execute(list, parameters);
	expect(run.error?.message).toContain('failed');
	const tidying = sleep.mock.calls.filter(([ms]) => ms === 15_000);
	expect(tidying.length).toBeGreaterThan(1);
	expect(tidying.map(([, signal]) => signal?.aborted)).not.toContain(false);
	sleep.mockRestore();
});
