/** Downloads outputs from a storage that misbehaves. */
import { createHash } from 'node:crypto';
import type { FaultAction } from '../../sandbox/faults';
import { getBytes } from '../../tools/http';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, trigger } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.share({ name: 'downloads', sandbox: { generationSeconds: 1 } });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

const megabyte = 1024 * 1024;
const downloads = () => stage.sandbox.requests.on('download');

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}

/** Triggers the fault, and checks that the file is still complete and charged once. */
async function expectTheFile(action: FaultAction, times: number): Promise<void> {
	stage.sandbox.faults.order({ on: 'download', times, action });
	const workflow = await stage.save(byHand('Download', ['A boat'], imageNode()));
	const execution = await stage.executions.ended(await stage.executions.run(workflow, trigger));
	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	const statuses = downloads().map(({ status }) => status);
	expect(statuses).toHaveLength(action.kind === 'gzip' ? 1 : times + 1);
	const [{ json, binary }] = itemsOf(execution, 'Images');
	if (!binary) throw new Error('The item has no file');
	const bytes = await stage.executions.download(binary.data);
	const { data: served } = await getBytes(String(json.url));
	expect(sha256(bytes)).toBe(sha256(served));
	expect(stage.sandbox.books.totals.created).toBe(1);
}

it('are complete when the storage compresses them with gzip', async () => {
	await expectTheFile({ kind: 'gzip' }, 1);
});

it.each<[string, FaultAction]>([
	['an error', { kind: 'respond', status: 500, body: 'x'.repeat(65_536), endless: true }],
	['a page', { kind: 'respond', status: 200, body: '<html>'.padEnd(65_536), endless: true }],
])(
	'are complete after an endless response, which n8n stops reading early: %s',
	async (_case, action) => {
		await expectTheFile(action, 2);
		const endless = downloads().slice(0, 2);
		await until('n8n has hung up', () => endless.every(({ answered }) => !answered));
		expect(Math.max(...endless.map(({ bytes }) => bytes))).toBeLessThan(20 * megabyte);
	},
);
