import type { INode } from 'n8n-workflow';

import type { Control, Run } from '../../tools/engine';
import { Outgoing } from '../support/outgoing';
import type { NodeName } from '../support/workflow';
import { openStage, prompts } from './stage';
import type { StepOrder } from './stage';

const stage = openStage();

const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const goOn = { onError: 'continueRegularOutput' as const };
const thirty = (text = '[seconds: 9] a boat') =>
	prompts(...Array.from({ length: 30 }, (_, index) => `${text} ${index}`));

const created = () => stage.sandbox.books.totals.created;

interface Stopped {
	run: Run;
	/** Requests that left this process after the stop. */
	late: string[];
}

/**
 * Stops a run as soon as `when` holds. From then on time runs as on the wall, so that what is under way has the time
 * that it is given, however busy the machine is.
 */
async function stopWhen(when: () => boolean, node: NodeName, order: StepOrder): Promise<Stopped> {
	const outgoing = new Outgoing();
	let before = Infinity;
	const onReady = async ({ cancel }: Control) => {
		while (!when()) await stage.pass(0);
		stage.setPace(1);
		before = outgoing.sent.length;
		cancel();
	};
	try {
		const run = await stage.run(node, {}, { ...order, onReady: (it) => void onReady(it) });
		// Twenty seconds of the nodes' time are long enough for any further request.
		stage.setPace();
		await stage.pass(20);
		expect(before).toBeGreaterThan(0);
		return { run, late: outgoing.sent.slice(before) };
	} finally {
		outgoing.stop();
	}
}

const paidInLog = (run: Run) =>
	run.logs
		.filter(({ level, message }) => level === 'warn' && message.includes('already been charged'))
		.map(({ metadata }) => (metadata as { generations: string[] }).generations);

function expectAllPaidNamed(run: Run): void {
	const paid = stage.sandbox.books.generations.map(({ id }) => id);
	// n8n may run a stopped node again because of its first item's error, which repeats the message.
	expect(paidInLog(run)[0]).toEqual(expect.arrayContaining(paid));
	for (const id of paid) {
		expect(run.logs.some(({ message }) => message.includes(id))).toBe(true);
	}
}

describe('a stop in the middle of thirty items', () => {
	it.each<[string, Partial<INode>]>([
		['by default', {}],
		['with Retry On Fail', again],
		['with Continue', goOn],
		['with both', { ...again, ...goOn }],
	])('ends the step, and nothing is sent after it, %s', async (_case, settings) => {
		const order = { items: thirty(), settings };
		const { run, late } = await stopWhen(() => created() >= 14, 'imageGeneration', order);
		expect(run.status).toBe('canceled');
		expect(late).toEqual([]);
		expect(created()).toBeLessThan(30);
		expectAllPaidNamed(run);
	});

	it('leaves generations that Wait for Completion can return later, at no charge', async () => {
		const order = { items: thirty() };
		const { run } = await stopWhen(() => created() >= 5, 'videoGeneration', order);
		const [ids] = paidInLog(run);
		const charged = stage.sandbox.books.totals.charged;
		const waited = await stage.run(
			'waitForCompletion',
			{ downloadOutput: false },
			{ items: ids.map((id) => ({ id })) },
		);
		expect(waited.output('Step').map(({ json }) => json.status)).toEqual(
			ids.map(() => 'completed'),
		);
		expect(stage.sandbox.books.totals.charged).toBe(charged);
	});

	it('waits for the ID of a request that is being charged at that moment', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'delay', ms: 100 } });
		const order = { items: prompts('a boat') };
		const { run, late } = await stopWhen(() => created() === 1, 'imageGeneration', order);
		expect(run.status).toBe('canceled');
		expect(late).toEqual([]);
		expectAllPaidNamed(run);
	});
});

describe('a stop', () => {
	const asked = (on: 'create' | 'status' | 'download' | 'models') =>
		stage.sandbox.requests.on(on).length;

	it('ends the wait for a free slot', async () => {
		stage.sandbox.service.occupy('main', 10);
		const order = { items: thirty() };
		const { run, late } = await stopWhen(() => asked('create') >= 12, 'imageGeneration', order);
		expect([run.status, late, created()]).toEqual(['canceled', [], 0]);
		expect(run.logs.filter(({ level }) => level === 'warn')).toEqual([]);
	});

	it('ends the wait for a generation', async () => {
		const id = await stage.made('a boat [seconds: 999]');
		const order = { items: [{ id }] };
		const { run, late } = await stopWhen(() => asked('status') >= 3, 'waitForCompletion', order);
		expect([run.status, late]).toEqual(['canceled', []]);
		expect(paidInLog(run)).toEqual([[id]]);
	});

	it('ends a request of a read-only node, without an error', async () => {
		stage.sandbox.faults.order({ on: 'models', action: { kind: 'hang' } });
		const { run, late } = await stopWhen(() => asked('models') === 1, 'generationModels', {});
		expect([run.status, run.runData.Step[0].error, late]).toEqual(['canceled', undefined, []]);
	});

	it('ends a stalled download, and names its generation', async () => {
		stage.sandbox.faults.order({ on: 'download', action: { kind: 'stall', afterBytes: 500 } });
		const order = { items: prompts('a boat') };
		const { run, late } = await stopWhen(() => asked('download') === 1, 'imageGeneration', order);
		expect([run.status, late]).toEqual(['canceled', []]);
		expectAllPaidNamed(run);
	});
});

describe("the workflow's timeout", () => {
	it('has the same effect as a stop', async () => {
		stage.setPace(20);
		const outgoing = new Outgoing();
		let before = 0;
		// Long enough for the first requests on a busy machine, and not for the twenty last.
		const timeoutMs = 1500;
		// Set after n8n's own timer, and so called after it.
		const onReady = () => void setTimeout(() => (before = outgoing.sent.length), timeoutMs);
		const items = thirty('[seconds: 900] a boat');
		const order = { items, settings: again, timeoutMs, onReady };
		const run = await stage.run('imageGeneration', {}, order);
		await stage.pass(20);
		outgoing.stop();
		expect(before).toBeGreaterThan(0);
		expect(run.status).toBe('canceled');
		expect(run.error?.name).toBe('TimeoutExecutionCancelledError');
		expect(outgoing.sent.slice(before)).toEqual([]);
		expect(created()).toBeLessThan(30);
		expectAllPaidNamed(run);
	});
});
