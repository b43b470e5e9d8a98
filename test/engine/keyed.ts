import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { wallClock } from '../../nodes/shared/http/clock';
import { inARow } from '../../tools/engine/in-a-row';
import { ownNode, withOptions } from '../support/workflow';
import { byId, openStage, type StageOptions } from './stage';
import { dataTableType, DataTables } from './support/data-table';

/** Parameters of a step whose items have idempotency keys. */
export const keyed: INodeParameters = {
	downloadOutput: false,
	options: { idempotencyKey: '={{ $json.key }}' },
};

/** Parameters of a step whose batch sleeps, with two generations at a time. */
export const asleep = (runOptions: IDataObject = {}): INodeParameters => ({
	...keyed,
	runOptions: { whileWaiting: 'suspend', maxConcurrent: 2, ...runOptions },
});

/** Settings of a step that continues with failed items. */
export const continues = { onError: 'continueRegularOutput' };

/** Input items. */
export function items(...pairs: Array<[key: string | null, prompt: string]>) {
	return pairs.map(([key, prompt]) => ({ key, prompt }));
}

/** Returns the workflow with one Image Generation step, as the user saved it. */
export function workflowWith(parameters: INodeParameters, settings = {}) {
	const model = byId('lumen-turbo');
	const usual = { model, prompt: '={{ $json.prompt }}', options: { size: '64x64' } };
	const step = ownNode('Step', 'imageGeneration', withOptions(usual, parameters), {
		id: 'the-node',
		...settings,
	});
	return { ...inARow(step), id: 'the-workflow' };
}

/** Input items with keys, whose generations take this many seconds each. */
export function boats(count: number, seconds = 300) {
	const boat = (n: number): [string, string] => [`k${n}`, `boat ${n} [seconds: ${seconds}]`];
	return items(...Array.from({ length: count }, (_, n) => boat(n)));
}

/**
 * Opens a stage with n8n's data tables in memory for the tests of one file, and returns functions for its executions.
 */
export function openKeyedStage(options: StageOptions = {}) {
	const tables = new DataTables(() => wallClock.now());
	const extraNodes = { ...options.extraNodes, [dataTableType]: tables };
	const stage = openStage({ ...options, extraNodes });
	beforeEach(() => tables.reset());
	return {
		stage,
		tables,
		rows: () => tables.rowsOf('media_generations'),
		created: () => stage.sandbox.books.totals.created,
		execute: async (list: IDataObject[], parameters = keyed, settings = {}) =>
			await stage.runWorkflow(workflowWith(parameters, settings), { items: list }),
	};
}
