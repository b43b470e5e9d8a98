import { boats, items, openKeyedStage } from './keyed';

/** Called when the batch is to fall asleep, which n8n refuses. */
let mockRefusal = () => {};
jest.mock('../../nodes/shared/helper-workflow', () => ({
	...jest.requireActual<object>('../../nodes/shared/helper-workflow'),
	runHelper: async () => {
		mockRefusal();
		await Promise.reject(new Error('No helper workflows here'));
	},
}));

const { created, execute, rows, tables } = openKeyedStage();
const failing = async () => await Promise.reject(new Error('The table is gone'));
afterEach(() => void (mockRefusal = () => {}));

const sleeps = { whileWaiting: 'suspend', maxConcurrent: 2 };
const parameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { ...sleeps, maxNewGenerations: 2 },
};

it('a batch that n8n cannot suspend is polled, says so, and keeps its spending limit', async () => {
	const list = items(['a', 'x [seconds: 90]'], ['b', 'y [seconds: 90]'], ['c', 'z [seconds: 90]']);
	const run = await execute(list, parameters, { onError: 'continueRegularOutput' });
	const codes = run.output('Step').map(({ json }) => json.error_code ?? json.status);
	expect(codes).toEqual(['completed', 'completed', 'generation_limit_reached']);
	expect(created()).toBe(2);
	expect(run.hints('Step').map(({ message }) => message)).toEqual([
		'Polled instead of sleeping, because n8n could not suspend the execution: No helper workflows here',
		expect.stringMatching(
			/^2 of 3 ready\. 1 was not sent at no charge: The limit of 2 new generations is reached\. Run the workflow again .* for all\.( 1 request was retried\.)?$/,
		),
	]);
});

describe('a batch whose table fails', () => {
	const continues = { onError: 'continueRegularOutput' };

	it('from the beginning creates nothing, and each item says so', async () => {
		tables.before = failing;
		const run = await execute(boats(2), parameters, continues);
		const codes = run.output('Step').map(({ json }) => json.error_code);
		expect([codes, created()]).toEqual([['record_unavailable', 'record_unavailable'], 0]);
	});

	it('when it goes on awake returns what it has created, and creates nothing more', async () => {
		mockRefusal = () => (tables.before = failing);
		const run = await execute(boats(3, 90), { ...parameters, runOptions: sleeps }, continues);
		const output = run.output('Step').map(({ json }) => json.error_code ?? json.id);
		const made = rows().map(({ generation_id: id }) => id);
		expect([made.length, created()]).toEqual([2, 2]);
		expect(output).toEqual([...made, 'record_unavailable']);
	});
});

it('a batch with several outputs for one item is polled, and says why', async () => {
	const run = await execute(boats(1, 5), { ...parameters, numberOfOutputs: 2 });
	expect(run.output('Step')).toHaveLength(2);
	expect(run.hints('Step')[0].message).toBe(
		'Polled instead of sleeping, because n8n cannot pair several outputs with one item after a sleep',
	);
});
