import type { IDataObject } from 'n8n-workflow';

import { STORED_VERSION } from '../../nodes/shared/sleep/state';
import type { Run } from '../../tools/engine';
import { helperOf, sleepToEnd, wavesOf } from './asleep';
import { asleep, boats, continues, openKeyedStage } from './keyed';

/** Suspended batches that wake in another release of the package than the one that stored them. */

const { stage, created, execute, rows } = openKeyedStage();

/** The states that are stored while a batch sleeps. */
function statesOf(run: Run): IDataObject[] {
	const { nodeExecutionStack } = wavesOf(stage, run).record.state.data.executionData ?? {};
	const message = nodeExecutionStack?.[0].data.main[0]?.[0].json.sleepingBatchMessage;
	const { flow } = helperOf(stage, run).contextData;
	return [(message as IDataObject).state, flow.state] as IDataObject[];
}

it.each<[string, object]>([
	// The first release stored no version.
	['an older', { v: undefined }],
	['a newer', { v: STORED_VERSION + 1, memory: 'changed' }],
])(
	'a batch that %s release has stored ends with an error that names every generation, which the next run reuses',
	async (_, change) => {
		const first = await execute(boats(3), asleep());
		expect(first.status).toBe('waiting');
		for (const state of statesOf(first)) Object.assign(state, change);
		const { status, error } = await sleepToEnd(stage, first);
		expect(status).toBe('error');
		expect(error?.message).toContain('The package was updated while the step was asleep');
		expect(error).toMatchObject({ context: { code: 'batch_interrupted' } });
		const ids = rows().map(({ generation_id: id }) => String(id));
		expect(ids).toHaveLength(created());
		for (const id of ids) {
			expect(error).toHaveProperty('description', expect.stringContaining(id));
		}
		const again = await sleepToEnd(stage, await execute(boats(3), asleep()));
		expect([again.status, created()]).toEqual(['success', 3]);
	},
);

it('a node with a role of another release creates nothing, and its error names every generation', async () => {
	const first = await execute(boats(3), asleep());
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

it('an item that the release installed now rejects may have been charged, and the others go on', async () => {
	const first = await execute(boats(3), asleep(), continues);
	const kept = first.contextData['node:Step'].sleepingBatch as { items: IDataObject[] };
	kept.items[1].prompt = '';
	const output = (await sleepToEnd(stage, first)).output('Step').map(({ json }) => json);
	expect(output.map((json) => json.error_code ?? json.status)).toEqual([
		'completed',
		'invalid_input',
		'completed',
	]);
	expect(output[1].error).toContain('was valid before the sleep, and may have been charged');
	expect(output[1].error).not.toContain('Nothing was charged');
});
