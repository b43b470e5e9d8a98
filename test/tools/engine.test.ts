import type { IDataObject, IExecuteFunctions, INode, INodeType } from 'n8n-workflow';
import { bareNode } from '../../tools/engine/bare-node';
import { inARow } from '../../tools/engine/in-a-row';
import { createTestEngine } from '../engine/support/engine';
import type { TestEngine } from '../engine/support/engine';
import { credentials, credentialType, node, startServer } from './engine.helpers';
import type { TestServer } from './engine.helpers';

type Body = (this: IExecuteFunctions) => ReturnType<NonNullable<INodeType['execute']>>;

let server: TestServer;
let engine: TestEngine;
let tries = 0;
/** Set by each test: what the stand-in node does. */
let body: Body;

const standIn = node('node', {
	async execute() {
		return await body.call(this);
	},
});

const sleeper = bareNode('sleeper', {
	async execute() {
		await this.putExecutionToWait(new Date(Date.now() + 3_600_000));
		return [this.getInputData()];
	},
});

beforeAll(async () => {
	server = await startServer();
	const extraNodes = { 'test.node': standIn, 'test.sleeper': sleeper };
	engine = await createTestEngine({ extraNodes });
});

afterAll(async () => {
	await engine.close();
	await server.close();
});

beforeEach(() => {
	tries = 0;
	server.requests.length = 0;
});

const given = () => ({ credentials: credentials(server.url) });
const nodes = (settings: Partial<INode> = {}) =>
	inARow({ name: 'Node', type: 'test.node', ...settings });

describe('running a workflow', () => {
	it('sends the credential with a request, pairs items, keeps hints and logs', async () => {
		body = async function () {
			const url = `${server.url}/echo`;
			const answer = (await this.helpers.httpRequestWithAuthentication.call(this, credentialType, {
				url,
				json: true,
			})) as IDataObject;
			this.addExecutionHints({ message: 'a hint' });
			this.logger.info('hello');
			return [[{ json: { greeting: answer.authorization } }]];
		};
		const run = await engine.run(nodes(), given());
		expect(run.error).toBeUndefined();
		expect(run.status).toBe('success');
		expect(run.output('Node')).toEqual([
			{ json: { greeting: 'Bearer secret' }, pairedItem: { item: 0 } },
		]);
		expect(run.hints('Node')).toEqual([{ message: 'a hint' }]);
		expect(run.logs).toContainEqual({ level: 'info', message: 'hello' });
	});
});

describe('Retry On Fail and "Retry execution"', () => {
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

	it('runs a failing node again, and keeps the context between tries', async () => {
		body = async function () {
			const context = this.getContext('node');
			context.seen = Number(context.seen ?? 0) + 1;
			if (++tries < 3) throw new Error('not yet');
			return [[{ json: { seen: context.seen } }]];
		};
		const run = await engine.run(nodes(settings), given());
		expect(run.output('Node')[0].json).toEqual({ seen: 3 });
		expect(tries).toBe(3);
	});

	it('runs again for a truthy json.error in the first item', async () => {
		body = async () => {
			tries++;
			return [[{ json: { error: 'soft' } }]];
		};
		const run = await engine.run(nodes({ ...settings, onError: 'continueRegularOutput' }), given());
		expect(run.status).toBe('success');
		expect(tries).toBe(3);
	});

	it('retries a failed execution with its context under a new id', async () => {
		body = async function () {
			const context = this.getContext('node');
			context.seen = Number(context.seen ?? 0) + 1;
			if (++tries === 1) throw new Error('lost');
			return [[{ json: { seen: context.seen, mode: this.getMode() } }]];
		};
		const first = await engine.run(nodes(), given());
		expect([first.status, first.nodeError('Node')?.message]).toEqual(['error', 'lost']);
		const second = await engine.retry(first);
		expect(second.status).toBe('success');
		expect(second.output('Node')[0].json).toEqual({ seen: 2, mode: 'retry' });
		expect(second.executionId).not.toBe(first.executionId);
		expect(second.contextData).toEqual({ 'node:Node': { seen: 2 } });
		expect(first.status).toBe('error');
		await expect(engine.retry(second)).rejects.toThrow('cannot be retried');
	});

	it('retries with the workflow as it was saved later', async () => {
		body = async function () {
			const needed = this.getNodeParameter('needed', 0);
			if (needed === 'bad') throw new Error('bad');
			return [[{ json: { needed } }]];
		};
		const failed = await engine.run(nodes({ parameters: { needed: 'bad' } }), given());
		const workflow = nodes({ parameters: { needed: 'good' } });
		const run = await engine.retry(failed, { workflow });
		expect(run.output('Node')[0].json).toEqual({ needed: 'good' });
	});
});

describe('stopping', () => {
	/** Resolves once the node runs. */
	let hasBegun: Promise<void>;
	let begin: () => void;
	beforeEach(() => {
		hasBegun = new Promise((resolve) => (begin = resolve));
	});
	const stopOnceBegun = ({ cancel }: { cancel: () => void }) => void hasBegun.then(cancel);

	const untilStopped: Body = async function () {
		const signal = this.getExecutionCancelSignal();
		begin();
		if (!signal?.aborted) await new Promise((done) => signal?.addEventListener('abort', done));
		tries++;
		return [[{ json: { aborted: signal?.aborted } }]];
	};

	it('ends as canceled when the user stops it, and the node sees it', async () => {
		body = untilStopped;
		const run = await engine.run(nodes(), { ...given(), onReady: stopOnceBegun });
		expect([run.status, tries]).toEqual(['canceled', 1]);
		expect(run.error?.name).toBe('ManualExecutionCancelledError');
		expect(run.output('Node')[0].json).toEqual({ aborted: true });
		expect(run.record.savedAtStop?.resultData.runData).toEqual({ Start: expect.anything() });
	});

	it('runs a node again that returns an error after the stop, if Retry On Fail is on', async () => {
		body = async function () {
			const signal = this.getExecutionCancelSignal();
			begin();
			if (!signal?.aborted) await new Promise((done) => signal?.addEventListener('abort', done));
			tries++;
			return [[{ json: { error: 'stopped' } }]];
		};
		const workflow = nodes({ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 });
		const run = await engine.run(workflow, { ...given(), onReady: stopOnceBegun });
		expect([run.status, tries]).toEqual(['canceled', 3]);
	});

	it('stops by a signal, and by the timeout of the workflow', async () => {
		body = untilStopped;
		const bySignal = await engine.run(nodes(), { ...given(), signal: AbortSignal.timeout(20) });
		expect(bySignal.status).toBe('canceled');
		const byTimeout = await engine.run(nodes(), { ...given(), timeoutMs: 20 });
		expect(byTimeout.status).toBe('canceled');
		expect(byTimeout.error?.name).toBe('TimeoutExecutionCancelledError');
	});
});

describe('sleeping', () => {
	it('resumes after a wait with the input of the sleeping node', async () => {
		body = async function () {
			tries++;
			await this.putExecutionToWait(new Date(Date.now() + 3_600_000));
			return [[{ json: { dropped: true } }]];
		};
		const asleep = await engine.run(nodes(), { ...given(), input: [{ json: { n: 1 } }] });
		expect(asleep.status).toBe('waiting');
		expect(asleep.waitTill).toBeInstanceOf(Date);
		const awake = await engine.resume(asleep);
		expect([awake.status, tries]).toEqual(['success', 1]);
		expect(awake.executionId).toBe(asleep.executionId);
		expect(awake.output('Node')[0].json).toEqual({ n: 1 });
		await expect(engine.resume(awake)).rejects.toThrow('not waiting');
	});

	it('sleeps as long as its sub-workflow, and uses its output', async () => {
		const child = inARow({ name: 'Sleep', type: 'test.sleeper' });
		const code = { ...child, id: 'child', name: 'child', active: false, isArchived: false };
		body = async function () {
			const { id: workflowId = '' } = this.getWorkflow();
			const parentExecution = {
				executionId: this.getExecutionId(),
				workflowId,
				shouldResume: true,
			};
			const input = this.getInputData();
			const dates = { createdAt: new Date(), updatedAt: new Date(), activeVersionId: null };
			await this.executeWorkflow({ code: { ...code, ...dates } }, input, undefined, {
				parentExecution,
			});
			return [input];
		};
		const input = [{ json: { n: 7 } }];
		const asleep = await engine.run(nodes(), { ...given(), input });
		expect([asleep.error, asleep.status]).toEqual([undefined, 'waiting']);
		const awake = await engine.resume(asleep);
		expect(awake.status).toBe('success');
		expect(awake.output('Node')[0].json).toEqual({ n: 7 });
	});
});
