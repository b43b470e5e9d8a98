import type { IDataObject, INodeParameters, IWorkflowSettings } from 'n8n-workflow';

import type { Run } from '../../tools/engine';
import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { items, openKeyedStage, workflowWith } from './keyed';

const { stage } = openKeyedStage();

const list = items(['a', 'a boat [seconds: 300]'], ['b', 'a ship [seconds: 300]']);
const asleep: INodeParameters = {
	options: { idempotencyKey: '={{ $json.key }}' },
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
};

/** Starts a batch that sleeps, in a workflow with these settings. */
async function batch(settings: object, parameters: INodeParameters = {}, mode?: 'manual') {
	const workflow = { ...workflowWith({ ...asleep, ...parameters }), settings };
	return await stage.runWorkflow(workflow, { items: list, mode });
}

/** Runs a suspended wait for a generation to its end, in a workflow with these settings. */
async function suspendedWait(settings: object, parameters: INodeParameters = {}): Promise<Run> {
	const id = await stage.made('a boat [seconds: 900]');
	const step = ownNode('Step', 'waitForCompletion', { mode: 'suspend', ...parameters });
	const workflow = { ...inARow(step), id: 'the-workflow', settings };
	const first = await stage.runWorkflow(workflow, { items: [{ id }] });
	expect(first.status).toBe('waiting');
	stage.sandbox.service.finish(id);
	await sleepToEnd(stage, first);
	return first;
}

/** The settings of the helper workflows that have run since an execution, by name. */
function helpersSince({ executionId }: Run): Array<[string, IWorkflowSettings & IDataObject]> {
	const found: Array<[string, IWorkflowSettings & IDataObject]> = [];
	for (let id = Number(executionId) + 1; ; id++) {
		const run = stage.engine.execution(String(id));
		if (!run) return found;
		const { name = '', settings = {} } = run.record.workflow;
		found.push([name, settings as IWorkflowSettings & IDataObject]);
	}
}

/** What is kept of the executions that succeed, of the helper workflows with this name. */
function keptOf(run: Run, name: string): unknown[] {
	const named = helpersSince(run).filter(([each]) => each === name);
	expect(named).not.toEqual([]);
	return named.map(([, settings]) => settings.saveDataSuccessExecution);
}

const nothing = { saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' };

describe('helper workflows', () => {
	const settings = { redactionPolicy: 'all', timezone: 'Asia/Tokyo' };

	it('of a sleeping batch all redact what the user’s workflow redacts, in its time zone', async () => {
		const first = await batch(settings);
		expect((await sleepToEnd(stage, first)).status).toBe('success');
		const helpers = helpersSince(first);
		const kinds = ['record', 'results', 'sleeping batch', 'waves'];
		expect(helpers.map(([name]) => name)).toEqual(
			expect.arrayContaining(kinds.map((kind) => `Step: ${kind}`)),
		);
		for (const [, own] of helpers) expect(own).toMatchObject(settings);
	});
});

describe('a user’s workflow that keeps no executions', () => {
	const json = { downloadOutput: false };

	it('keeps no helper execution of a batch without files after it succeeded', async () => {
		const first = await batch(nothing, json);
		expect((await sleepToEnd(stage, first)).status).toBe('success');
		for (const [, own] of helpersSince(first)) expect(own.saveDataSuccessExecution).toBe('none');
		expect(keptOf(first, 'Step: results')).toEqual(['none']);
	});

	it('keeps the helper execution that owns the files', async () => {
		const first = await batch(nothing);
		await sleepToEnd(stage, first);
		expect(keptOf(first, 'Step: results')).toEqual(['all']);
		expect(keptOf(await suspendedWait(nothing), 'Step: results')).toEqual(['all']);
	});

	it('keeps none of a run by hand either, if it keeps no runs by hand', async () => {
		const settings = { saveManualExecutions: false };
		const first = await batch(settings, json, 'manual');
		await sleepToEnd(stage, first);
		expect(keptOf(first, 'Step: results')).toEqual(['none']);
	});
});
