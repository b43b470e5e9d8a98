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

const strike = (action: FaultAction, times: number | 'always' = 'always') =>
	stage.sandbox.faults.order({ on: 'status', times, action });

const troubles: Array<[string, FaultAction]> = [
	['never answered', { kind: 'hang' }],
	['answered a byte at a time', { kind: 'trickle', everyMs: 500 }],
	['answered too late', { kind: 'delay', ms: 3_600_000 }],
	['refused for the time being', { kind: 'error', code: 'service_unavailable' }],
	['answered by somebody else', { kind: 'respond', status: 200, body: '<html>Sign in</html>' }],
	[
		'answered in half',
		{ kind: 'respond', status: 200, body: '{"id":"gen', contentType: 'application/json' },
	],
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

	it('that knows only the ID also ends at its timeout', async () => {
		const id = await stage.made(`a boat ${slow}`);
		strike(action);
		const run = await stage.run(
			'waitForCompletion',
			{ runOptions: { timeout: TIMEOUT, pollInterval: 1 } },
			{ items: [{ id }] },
		);
		// A page before the service has ever answered means that the Base URL is wrong.
		const isForeign = action.kind === 'respond' && String(action.body).includes('<html>');
		expect(run.error).toMatchObject({
			description: expect.stringContaining(
				isForeign ? 'Check the Base URL' : 'Its status could not be checked',
			),
			context: { code: isForeign ? 'unreadable_answer' : 'timeout' },
		});
	});
});

describe('a status response that is not from the service', () => {
	it.each(troubles.slice(3))('is requested again: %s', async (_case, action) => {
		strike(action, 2);
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.output('Step')).toMatchObject([{ json: { status: 'completed' } }]);
	});
});

describe('no slot', () => {
	it('until the timeout ends the item, and nothing is charged', async () => {
		stage.sandbox.faults.order({
			on: 'create',
			times: 'always',
			action: { kind: 'error', code: 'CONCURRENCY_LIMIT_REACHED' },
		});
		const run = await waitingInVain({});
		expect(run.error).toMatchObject({
			description: expect.stringMatching(/Nothing was charged.*within 4 s/),
			context: { code: 'CONCURRENCY_LIMIT_REACHED' },
		});
	});
});

describe('a catalog that never responds', () => {
	it('delays nothing', async () => {
		const action = { kind: 'hang' } as const;
		stage.sandbox.faults.order({ on: 'models', times: 'always', action });
		const items = prompts('a boat', 'a ship', 'a raft');
		const run = await stage.run('imageGeneration', {}, { items });
		expect(run.output('Step').map(({ json }) => json.status)).toEqual(Array(3).fill('completed'));
		expect(stage.sandbox.requests.on('models')).toEqual([]);
	});
});

describe('a step that does not wait', () => {
	it('sends no more creating requests at once than Max Concurrent', async () => {
		const action = { kind: 'delay', ms: 50 } as const;
		stage.sandbox.faults.order({ on: 'create', times: 'always', action });
		const items = prompts(...Array.from({ length: 12 }, (_, index) => `boat ${index}`));
		const parameters = { waitForCompletion: false, runOptions: { maxConcurrent: 2 } };
		const run = await stage.run('imageGeneration', parameters, { items });
		expect(run.output('Step')).toHaveLength(12);
		const sent = stage.sandbox.requests.on('create').map(({ at }) => at);
		// Each is answered after five seconds of the stage's time, which a timer may round down.
		sent.slice(2).forEach((at, index) => expect(at - sent[index]).toBeGreaterThan(4000));
	});
});
