import type { FaultAction } from '../../sandbox/faults';
import { openStage, prompts } from './stage';

const stage = openStage();
const TIMEOUT = 4;
const slow = '[seconds: 900]';

/** Runs a step over generations that take much longer than its timeout. */
async function waitingInVain(runOptions: object, items = prompts(`a boat ${slow}`)) {
	return await stage.run(
		'imageGeneration',
		{ runOptions: { timeout: TIMEOUT, pollInterval: 1, ...runOptions } },
		{ items },
	);
}

const strike = (action: FaultAction) =>
	stage.sandbox.faults.order({ on: 'status', times: 'always', action });

const troubles: Array<[string, FaultAction]> = [
	['never answered', { kind: 'hang' }],
	['answered a byte at a time', { kind: 'trickle', everyMs: 500 }],
	['answered by somebody else', { kind: 'respond', status: 200, body: '<html>Sign in</html>' }],
];

describe.each(troubles)('while status requests are %s, a step', (_case, action) => {
	it('ends at its timeout, and names what is charged', async () => {
		strike(action);
		const run = await waitingInVain({});
		const [{ id }] = stage.sandbox.books.generations;
		expect(run.error).toMatchObject({
			message: `The generation did not finish within ${TIMEOUT} s`,
			description: expect.stringContaining(id),
			context: { code: 'timeout', generations: [{ id }] },
		});
	});

	it('returns what is known if On Timeout is Continue', async () => {
		strike(action);
		const items = prompts(`a boat ${slow}`, `a ship ${slow}`);
		const run = await waitingInVain({ onTimeout: 'continue' }, items);
		expect(run.output('Step')).toMatchObject(
			stage.sandbox.books.generations.map(({ id }) => ({ json: { id, timed_out: true } })),
		);
	});
});
