import type { FaultOrder } from '../../sandbox/faults';
import type { Stage } from './stage';
import { binaryOf, openStage, prompts, sha256 } from './stage';

const items = prompts('a boat [seconds: 12]', 'a ship [seconds: 14]', 'a raft [seconds: 16]');

/** Each item ends with its own file and is charged once, for any response of the storage to probes. */
async function expectTheFiles(stage: Stage): Promise<void> {
	stage.setPace(20);
	const run = await stage.run('imageGeneration', {}, { items });
	expect(run.error).toBeUndefined();
	const made = stage.sandbox.books.generations;
	const output = run.output('Step');
	expect(output.map(({ json }) => made.find(({ id }) => id === json.id)?.prompt)).toEqual(
		items.map(({ prompt }) => prompt),
	);
	for (const item of output) {
		const bytes = await run.binary(binaryOf(item));
		expect(sha256(bytes)).toBe(sha256(await stage.served(String(item.json.id))));
	}
	expect(stage.sandbox.books.totals).toMatchObject({ created: 3, charged: 3 });
}

const probed = ({ sandbox }: Stage) => sandbox.requests.on('probe').length;

describe('detecting completion with a storage', () => {
	const stage = openStage();

	it.each<[string, Omit<FaultOrder, 'times'>]>([
		['remembers for a minute that a file was missing', remember(60)],
		['remembers for a moment that a file was missing', remember(12)],
		['sends the whole file for its first byte', { on: 'probe', action: { kind: 'ignoreRange' } }],
		['never answers', { on: 'probe', action: { kind: 'hang' } }],
		['resets the connection', { on: 'probe', action: { kind: 'reset' } }],
		['says that it is down', { on: 'probe', action: { kind: 'respond', status: 503 } }],
		['shows a page', { on: 'probe', action: { kind: 'respond', status: 200, body: '<html>' } }],
		[
			'sends one elsewhere',
			{ on: 'probe', action: { kind: 'redirect', location: 'http://127.0.0.1:9/' } },
		],
		['says that it is there when it is not', { on: 'probe', action: found() }],
		['answers byte by byte', { on: 'probe', action: { kind: 'trickle', everyMs: 20 } }],
		['cannot be reached at first', { on: 'create', action: { kind: 'unreachable' } }],
	])('that %s ends with the right file', async (_case, order) => {
		stage.sandbox.faults.order({ ...order, times: 'always' });
		await expectTheFiles(stage);
		if (order.on === 'probe') expect(probed(stage)).toBeGreaterThan(0);
	});
});

describe('a generation that fails although the storage serves something', () => {
	const stage = openStage();

	it('is an error that says so, and is not charged', async () => {
		const action = { kind: 'respond', status: 200, body: 'x' } as const;
		stage.sandbox.faults.order({ on: 'probe', times: 'always', action });
		const run = await stage.run(
			'imageGeneration',
			{ runOptions: { readiness: 'outputUrl' } },
			{ items: prompts('a boat [fail: out of paint]') },
		);
		expect(run.error).toMatchObject({
			message: 'The generation failed: out of paint',
			description: expect.stringContaining('refunded') as string,
			context: { code: 'generation_failed', generations: [] },
		});
	});
});

function remember(seconds: number): Omit<FaultOrder, 'times'> {
	return { on: 'probe', action: { kind: 'remember404', seconds } };
}

/** Returns an action that serves one byte of something else. */
function found(): FaultOrder['action'] {
	return { kind: 'respond', status: 200, body: '{', contentType: 'application/json' };
}
