/** A service, proxies and storages that are less well-behaved than they should be. */
import { createHash } from 'node:crypto';
import type { FaultOrder } from '../../sandbox/faults';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, trigger } from './support/workflows';
import type { OwnNode } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.open({ name: 'faults' });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

/** One picture, where this goes wrong with each request that it is on. */
async function ran(prompt: string, fault: FaultOrder, images: OwnNode): Promise<Execution> {
	stage.sandbox.faults.order({ match: { promptIncludes: prompt }, ...fault });
	const workflow = await stage.save(byHand(prompt, [prompt], images));
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

/** The picture came, and it is that of the service. */
async function expectServed(execution: Execution): Promise<void> {
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const [{ json, binary }] = itemsOf(execution, 'Images');
	if (!binary?.data) throw new Error(`Generation ${String(json.id)} came without its file`);
	const served = Buffer.from(await (await fetch(String(json.url))).arrayBuffer());
	expect(sha256(await stage.executions.download(binary.data))).toBe(sha256(served));
}

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

it('does not send an item again after the error of a proxy, which does not know what was made', async () => {
	const prompt = 'Behind a proxy';
	const body = { error: { code: '504', type: 'timeout_error', message: 'Gateway timeout' } };
	const execution = await ran(
		prompt,
		{ on: 'create', times: 'always', action: { kind: 'respond', status: 504, body, work: true } },
		imageNode({}, { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 }),
	);
	expect(execution.status).toBe('error');
	expect(errorOf(execution)).toContain('uncertain_charge');
	expect(stage.sandbox.requests.on('create')).toHaveLength(1);
	expect(stage.sandbox.books.liveChargesFor(prompt)).toBe(1);
});

it('ends an item at its timeout where the service has stopped answering', async () => {
	const execution = await ran(
		'Silent [seconds: 6000]',
		{ on: 'status', times: 'always', action: { kind: 'hang' } },
		imageNode({ timeout: 5, onTimeout: 'continue' }),
	);
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Images')).toMatchObject([{ json: { timed_out: true } }]);
	// A request that hangs is given up after a minute otherwise, and sent again.
	const took = Date.parse(String(execution.stoppedAt)) - Date.parse(execution.startedAt);
	expect(took).toBeLessThan(30_000);
});

it('downloads what the storage encodes, though the length that it announces is another', async () => {
	const fault: FaultOrder = {
		on: 'download',
		times: 'always',
		action: { kind: 'gzip' },
	};
	await expectServed(await ran('Encoded', fault, imageNode()));
});

it('closes a refusal that never ends, and downloads at the next try', async () => {
	const action = { kind: 'respond', status: 500, body: 'x'.repeat(65_536), endless: true } as const;
	await expectServed(await ran('Endless', { on: 'download', action }, imageNode()));
	const closed = () =>
		stage.sandbox.requests.all.some(({ fault, answered }) => fault === 'respond' && !answered);
	await until('the refusal is closed', closed);
});
