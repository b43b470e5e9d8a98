/** Checks idempotency keys in an n8n whose data tables cannot be used. */
import { errorOf } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

const keyed = imageNode({ idempotencyKey: '={{ $json.prompt }}' });

describe.each([
	['switched off', { N8N_DISABLED_MODULES: 'data-table' }, /N8N_DISABLED_MODULES/],
	['full', { N8N_DATA_TABLES_MAX_SIZE_BYTES: '1' }, /Delete rows/],
	['excluded', { NODES_EXCLUDE: '["n8n-nodes-base.dataTable"]' }, /NODES_EXCLUDE/],
])('with data tables that are %s', (name, env, advice) => {
	let stage: Stage;
	beforeAll(async () => {
		stage = await Stage.open({ name: `record-${name.replace(' ', '-')}`, env });
	});
	afterAll(async () => await stage?.close());

	it('an idempotency key is an error before anything is sent', async () => {
		const prompts = promptsNamed('Nowhere', 2);
		const workflow = await stage.save(byHand('Nowhere', prompts, keyed));
		const execution = await stage.executions.ended(await stage.executions.run(workflow, trigger));
		expect(execution.status).toBe('error');
		expect(errorOf(execution)).toMatch(advice);
		expect(stage.sandbox.books.totals.created).toBe(0);
		expect(stage.sandbox.requests.on('create')).toEqual([]);
	});
});
