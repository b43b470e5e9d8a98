import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { items, keyed, openKeyedStage } from './keyed';
import { byId } from './stage';

const { stage, tables, created, execute } = openKeyedStage();

const goOn = { onError: 'continueRegularOutput' as const };

const DISABLED = 'Attempted to use Data table node but the module is disabled';

it('data tables that are not there while n8n starts delay items with a key, and do not fail them', async () => {
	let refusals = 6;
	tables.before = () => {
		if (refusals-- > 0) throw new Error(DISABLED);
	};
	const run = await execute(items(['a', 'a boat'], ['b', 'a ship']));
	expect(run.error).toBeUndefined();
	expect(created()).toBe(2);
});

describe('without a table', () => {
	const refusals: Array<[string, string, RegExp]> = [
		['switched off', DISABLED, /N8N_DISABLED_MODULES/],
		['full', 'Data table size limit exceeded: 50MB used, limit is 50MB', /Delete rows/],
		['excluded', 'Unrecognized node type: n8n-nodes-base.dataTable', /NODES_EXCLUDE/],
		[
			'of a release that cannot make one',
			"Cannot read properties of undefined (reading 'execute')",
			/n8n 2\.3 or later/,
		],
		[
			'of a release that cannot make one, in n8n’s other words',
			'Could not get parameter',
			/n8n 2\.3 or later/,
		],
	];

	it.each(refusals)('%s: an error before anything is sent', async (_case, refusal, advice) => {
		tables.refusal = refusal;
		const run = await execute(items(['a', 'a boat']));
		expect(run.error).toMatchObject({ context: { code: 'record_unavailable' } });
		expect(run.error).toHaveProperty('description', expect.stringMatching(advice));
		expect(run.error).toHaveProperty(
			'description',
			expect.stringContaining(`n8n says: ${refusal}`),
		);
		expect(created()).toBe(0);
	});

	it('items without a key are generated anyway if the workflow continues on error', async () => {
		tables.refusal = 'Data table size limit exceeded';
		const run = await execute(items(['a', 'a boat'], [null, 'a ship']), keyed, goOn);
		expect(run.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'record_unavailable',
			'completed',
		]);
		expect(created()).toBe(1);
	});

	it('in a workflow that is not saved: an error before anything is sent', async () => {
		const step = ownNode('Step', 'imageGeneration', {
			model: byId('lumen-turbo'),
			prompt: 'a boat',
			...keyed,
		});
		const workflow = { ...inARow(step), id: '__EMPTY__' };
		const run = await stage.runWorkflow(workflow, { items: items(['a', '']) });
		expect(run.error).toMatchObject({ context: { code: 'record_unavailable' } });
		expect(created()).toBe(0);
	});

	it('after the request: the item is returned, and a hint says that the table has no row for it', async () => {
		tables.before = (operation) => {
			if (['insert', 'rowNotExists'].includes(operation) && created() > 0)
				throw new Error('the database is gone');
		};
		const run = await execute(items(['a', 'a boat']));
		expect(run.status).toBe('success');
		expect(run.hints('Step')).toContainEqual(
			expect.objectContaining({ message: expect.stringMatching(/could not be updated.*: a\./) }),
		);
	});
});
