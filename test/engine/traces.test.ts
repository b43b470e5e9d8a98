import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { openKeyedStage, workflowWith } from './keyed';
import { prompts } from './stage';

/** What a step tells n8n's traces and debug log. */

const { stage, tables } = openKeyedStage();
const once: INodeParameters = { runOptions: { readiness: 'status' } };
const traceOf = (run: Run, node = 'Step') =>
	run.runData[node]?.at(-1)?.metadata?.tracing as IDataObject | undefined;
const debugLines = (run: Run) =>
	run.logs.filter(({ level }) => level === 'debug').map(({ message }) => message);
const secret = /A (boat|ship)|token|X-Amz|svc_live|https?:/;

/** Adds up an attribute of the traces of an execution and of those after it. */
function sumsSince({ executionId }: Run): (name: string) => number {
	const runs = Array.from({ length: 600 }, (_, id) =>
		stage.engine.execution(String(Number(executionId) + id)),
	);
	const traces = runs.flatMap((run) =>
		Object.values(run?.runData ?? {})
			.flat()
			.map(({ metadata }) => (metadata?.tracing ?? {}) as Record<string, number>),
	);
	return (name) => traces.reduce((all, { [name]: count = 0 }) => all + count, 0);
}

const NAMES = [
	'media.generations.created',
	'media.generations.failed',
	'media.generations.retried',
	'media.generations.reused',
	'media.generations.uncertain',
	'media.requests.status',
	'media.slots.wait_ms',
];

describe('the trace of a step', () => {
	it.each([
		['imageGeneration', 'image_generation', 'lumen-turbo'],
		['videoGeneration', 'video_generation', 'aurora-motion-1'],
	] as const)(
		'of %s has the names of the contract, and no prompt, URL or key',
		async (type, name, model) => {
			const run = await stage.run(type, once, { items: prompts('A boat', 'A ship') });
			const trace = traceOf(run) ?? {};
			expect(Object.keys(trace).sort()).toEqual(
				['gen_ai.operation.name', 'gen_ai.request.model', ...NAMES].sort(),
			);
			expect(trace).toMatchObject({
				'gen_ai.operation.name': name,
				'gen_ai.request.model': model,
				'media.generations.created': 2,
				'media.generations.reused': 0,
				'media.generations.failed': 0,
				'media.generations.retried': 0,
				'media.generations.uncertain': 0,
				'media.slots.wait_ms': 0,
				'media.requests.status': stage.sandbox.requests.on('status').length,
			});
			expect(Object.values(trace).map((value) => typeof value)).not.toContain('object');
			expect(JSON.stringify(trace)).not.toMatch(secret);
		},
	);

	it('of a failed step counts what failed, was made anew and is uncertain', async () => {
		const items = prompts('A boat [fail]', 'A ship');
		const runOptions = { retriesOnFailure: 1, readiness: 'status' };
		const run = await stage.run('imageGeneration', { runOptions }, { items });
		expect(run.error).toBeDefined();
		expect(traceOf(run)).toMatchObject({
			'media.generations.created': 3,
			'media.generations.failed': 2,
			'media.generations.retried': 1,
		});
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		const lost = await stage.run('imageGeneration', {}, { items: prompts('A boat') });
		expect(traceOf(lost)).toMatchObject({
			'media.generations.created': 0,
			'media.generations.uncertain': 1,
		});
	});

	it('has the balance before and after where it is known, and the wait for slots', async () => {
		stage.sandbox.service.occupy('main', 10);
		const running = stage.run(
			'imageGeneration',
			{ runOptions: { minimumBalance: 10 } },
			{ items: prompts('A boat') },
		);
		while (stage.sandbox.requests.on('create').length === 0) await stage.pass(0);
		await stage.pass(5);
		stage.sandbox.service.occupy('main', 0);
		const trace = traceOf(await running) ?? {};
		expect(trace).toMatchObject({ 'media.credits.before': 100_000, 'media.credits.after': 99_999 });
		expect(trace['media.slots.wait_ms']).toBeGreaterThan(3_000);
	});

	it('of the other nodes counts what they did', async () => {
		const id = await stage.made('A boat [seconds: 5]');
		const waited = await stage.run('waitForCompletion', once, { items: [{ id }] });
		expect(traceOf(waited)).toMatchObject({
			'gen_ai.operation.name': 'image_generation',
			'media.generations.created': 0,
			'media.requests.status': stage.sandbox.requests.on('status').length,
		});
		const credits = await stage.run('generationCredits');
		expect(traceOf(credits)).toMatchObject({
			'media.generations.created': 0,
			'media.credits.before': 99_999,
			'media.credits.after': 99_999,
		});
		const onError = 'continueErrorOutput' as const;
		const action = { kind: 'error', code: 'forbidden' } as const;
		stage.sandbox.faults.order({ on: 'credits', action });
		const order = { items: [{ balance: 777 }], settings: { onError } };
		const failed = await stage.run('generationCredits', {}, order);
		expect(traceOf(failed)).toBeDefined();
		expect(traceOf(failed)).not.toHaveProperty(['media.credits.before']);
		const models = await stage.run('generationModels');
		expect(traceOf(models)).toMatchObject({ 'media.generations.created': 0 });
	});

	it('of a batch that sleeps is on the step and its helper executions, which sum up to what was created and failed', async () => {
		const ends = ['', '[fail: out of paint]'];
		const items = ends.map((end, n) => ({
			key: `k${n}`,
			prompt: `A boat ${n} [seconds: 300] ${end}`,
		}));
		const options = { idempotencyKey: '={{ $json.key }}' };
		const runOptions = { whileWaiting: 'suspend', maxConcurrent: 1 };
		const goOn = { onError: 'continueRegularOutput' as const };
		const workflow = workflowWith({ options, runOptions }, goOn);
		const asleep = await stage.runWorkflow(workflow, { items });
		const end = await sleepToEnd(stage, asleep);
		expect(end.status).toBe('success');
		const sum = sumsSince(asleep);
		expect([sum('media.generations.created'), sum('media.generations.failed')]).toEqual([2, 1]);
	});

	it('of a suspended wait is on the step and its helper executions, which sum up to its status requests', async () => {
		const id = await stage.made('A boat [seconds: 300]');
		const wait = ownNode('Step', 'waitForCompletion', { mode: 'suspend' }, { id: 'the-node' });
		const workflow = { ...inARow(wait), id: 'the-workflow' };
		const asleep = await stage.runWorkflow(workflow, { items: [{ id }] });
		expect((await sleepToEnd(stage, asleep)).status).toBe('success');
		const sent = stage.sandbox.requests.on('status').length;
		const sum = sumsSince(asleep)('media.requests.status');
		expect(sent).toBeGreaterThan(3);
		// A request that the step gives up at its end may not arrive.
		expect([sent, sent + 1]).toContain(sum);
	});
});

describe('n8n’s debug log', () => {
	it('has a line for each 429, each retry and each status that is not expected', async () => {
		stage.sandbox.faults.order(
			{ on: 'create', action: { kind: 'error', code: 'service_unavailable' } },
			{ on: 'create', action: { kind: 'error', code: 'CONCURRENCY_LIMIT_REACHED' } },
			{ on: 'status', action: { kind: 'error', code: 'server_error' } },
		);
		const run = await stage.run('imageGeneration', once, { items: prompts('A boat') });
		expect(run.error).toBeUndefined();
		// Two that wait for one status check may both say that it is repeated.
		const lines = [...new Set(debugLines(run).filter((line) => line.startsWith('"Step": ')))];
		expect(lines).toEqual([
			'"Step": POST /v1/images/generations was answered with 503 service_unavailable',
			'"Step": the creating request of item 0 is repeated (backoff: service_unavailable)',
			'"Step": POST /v1/images/generations was answered with 429 CONCURRENCY_LIMIT_REACHED',
			'"Step": the creating request of item 0 is repeated (slot: CONCURRENCY_LIMIT_REACHED)',
			expect.stringMatching(
				/^"Step": GET \/v1\/generations\/[\w-]+ was answered with 500 server_error$/,
			),
			expect.stringMatching(/^"Step": the status check of [\w-]+ is repeated \(server_error\)$/),
		]);
		expect(lines.join('\n')).not.toMatch(secret);
	});

	it('has a line for a state that the specification does not name', async () => {
		const items = prompts('A boat [end: dreaming] [seconds: 2]');
		const runOptions = { readiness: 'status', timeout: 10 };
		const run = await stage.run('imageGeneration', { runOptions }, { items });
		expect(debugLines(run).join('\n')).toMatch(
			/"Step": generation [\w-]+ has the unknown status "dreaming"/,
		);
	});

	it('has a line for each call of the data table that is repeated', async () => {
		let calls = 0;
		tables.before = (operation) => {
			if (operation === 'insert' && calls++ === 0) throw new Error('SQLITE_BUSY: A boat is locked');
		};
		const options = { idempotencyKey: '={{ $json.key }}' };
		const items = [{ key: 'k', prompt: 'A boat' }];
		const run = await stage.runWorkflow(workflowWith({ options }), { items });
		expect(run.error).toBeUndefined();
		expect(debugLines(run).join('\n')).toContain('"Step": the call of the data table is repeated');
	});

	it('says nothing of a step in which all goes well', async () => {
		const run = await stage.run('imageGeneration', {}, { items: prompts('A boat') });
		expect(debugLines(run).filter((line) => line.startsWith('"Step": '))).toEqual([]);
	});
});
