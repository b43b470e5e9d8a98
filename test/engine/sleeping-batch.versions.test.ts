import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { STORED_VERSION } from '../../nodes/shared/sleep/state';
import type { Run } from '../../tools/engine';
import { helperOf, sleepToEnd, wake, wavesOf } from './asleep';
import { items, openKeyedStage } from './keyed';

/** Suspended batches that wake in another release of the package than the one that stored them. */

const { stage, created, execute, rows } = openKeyedStage();

const asleep: INodeParameters = {
	downloadOutput: false,
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 2 },
};
const list = items(
	['a', 'a boat [seconds: 300]'],
	['b', 'a ship [seconds: 300]'],
	['c', 'a raft [seconds: 300]'],
);

/** What is stored while a batch sleeps. */
const stored: Record<string, (run: Run) => IDataObject> = {
	'the state of the batch': (run) => {
		const { contextData, nodeExecutionStack } =
			wavesOf(stage, run).record.state.data.executionData ?? {};
		const message = nodeExecutionStack?.[0].data.main[0]?.[0].json.sleepingBatchMessage;
		// A wave that has run keeps it in the context.
		return (contextData?.flow?.batch ?? (message as IDataObject).state) as IDataObject;
	},
	'the parameters of its step': (run) => {
		const { contextData } = run.record.state.data.executionData ?? {};
		return contextData?.['node:Step'].sleepingBatch as IDataObject;
	},
};

/** How it can differ from what this release stores. */
const changes: Array<[release: string, change: (what: IDataObject) => void]> = [
	// The first release stored no version.
	['an older', (what) => delete what.v],
	['a newer', (what) => Object.assign(what, { v: STORED_VERSION + 1, failed: 'changed' })],
];

describe.each(changes)('%s release has stored', (_, change) => {
	it.each(Object.entries(stored))(
		'%s: the batch ends with an error that names every generation, which the next run reuses',
		async (__, find) => {
			const first = await execute(list, asleep);
			expect(first.status).toBe('waiting');
			change(find(first));
			const { status, error } = await sleepToEnd(stage, first);
			expect(status).toBe('error');
			expect(error?.message).toContain('The package was updated while the step was asleep');
			expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
			const ids = rows().map(({ generation_id: id }) => String(id));
			expect(ids).toHaveLength(created());
			for (const id of ids) {
				expect(error).toHaveProperty('description', expect.stringContaining(id));
			}
			const again = await sleepToEnd(stage, await execute(list, asleep));
			expect([again.status, created()]).toEqual(['success', 3]);
		},
	);
});

it('the state of a batch that has slept before is not read either', async () => {
	const next = await wake(stage, await execute(list, asleep));
	expect(next.status).toBe('waiting');
	Object.assign(stored['the state of the batch'](next), { v: STORED_VERSION + 1 });
	const { error } = await sleepToEnd(stage, next);
	expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
	for (const { generation_id: id } of rows()) {
		expect(error).toHaveProperty('description', expect.stringContaining(String(id)));
	}
});

it('the report of waves that ended in another release is not read: the error names every generation', async () => {
	const first = await execute(list, asleep);
	const { state } = wavesOf(stage, first).record;
	const report = { ...stored['the state of the batch'](first), v: STORED_VERSION + 1 };
	const main = [[{ json: { sleepingBatchMessage: { report } } }]];
	Object.assign(state, { status: 'success', finished: true });
	Object.assign(state.data.resultData, {
		lastNodeExecuted: 'Report',
		runData: { Report: [{ data: { main } }] },
	});
	const { error } = await stage.engine.resume(first);
	expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
	for (const { generation_id: id } of rows()) {
		expect(error).toHaveProperty('description', expect.stringContaining(String(id)));
	}
});

it('a node with a role of another release creates nothing, and its error names every generation', async () => {
	const first = await execute(list, asleep);
	// An older release had this role.
	const { workflow } = helperOf(stage, first).record;
	for (const node of workflow.nodes.filter(({ parameters }) => parameters.batchRole)) {
		Object.assign(node, { onError: undefined });
		node.parameters.batchRole = 'continueLater';
	}
	const { error } = await sleepToEnd(stage, first);
	const prompts = stage.sandbox.books.generations.map(({ prompt }) => prompt);
	expect(prompts).not.toContain('As in the step');
	expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
	for (const { generation_id: id } of rows()) {
		expect(error).toHaveProperty('description', expect.stringContaining(String(id)));
	}
});
