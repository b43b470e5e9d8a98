import { items, openKeyedStage } from './keyed';

jest.mock('../../nodes/shared/helper-workflow', () => ({
	...jest.requireActual<object>('../../nodes/shared/helper-workflow'),
	runHelper: async () => await Promise.reject(new Error('No helper workflows here')),
}));

const { created, execute } = openKeyedStage();

const parameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 2, maxNewGenerations: 2 },
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
