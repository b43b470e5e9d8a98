import { wake } from './asleep';
import { openStage } from './stage';

const stage = openStage();

const include = { options: { includeOtherFields: true } };
const rows = [
	{ prompt: 'a boat', sku: 'B-1', id: 'row 1', error: 'of an earlier step' },
	{ prompt: 'a ship', sku: 'S-2', id: 'row 2' },
];

describe('Include Other Input Fields', () => {
	it('returns the columns of each row; fields of the generation override them', async () => {
		const parameters = { ...include, downloadOutput: false };
		const run = await stage.run('imageGeneration', parameters, { items: rows });
		const { generations } = stage.sandbox.books;
		expect(run.output('Step').map(({ json }) => json)).toEqual(
			rows.map(({ prompt, sku }, index) => ({
				prompt,
				sku,
				...stage.promised(generations[index]),
			})),
		);
	});

	it('is off by default', async () => {
		const run = await stage.run('imageGeneration', { downloadOutput: false }, { items: rows });
		expect(run.output('Step')[0].json).not.toHaveProperty('sku');
	});

	it('can be decided for each item', async () => {
		const parameters = {
			downloadOutput: false,
			options: { includeOtherFields: '={{ $json.sku === "S-2" }}' },
		};
		const run = await stage.run('imageGeneration', parameters, { items: rows });
		expect(run.output('Step').map(({ json }) => json.sku)).toEqual([undefined, 'S-2']);
	});

	it('returns the columns of failed and of invalid items as well', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'fail' } });
		const run = await stage.run(
			'imageGeneration',
			{ ...include, downloadOutput: false },
			{
				items: [...rows, { prompt: '', sku: 'E-3' }],
				settings: { onError: 'continueRegularOutput' },
			},
		);
		const output = run.output('Step').map(({ json }) => json);
		expect(output.map(({ sku }) => sku)).toEqual(['B-1', 'S-2', 'E-3']);
		expect(output[0]).toMatchObject({ error_code: 'generation_failed', status: 'failed' });
		expect(output[2]).toMatchObject({ error_code: 'invalid_input', id: null });
	});

	it.each(['poll', 'check'])('works in Wait for Completion: %s', async (mode) => {
		const items = [{ id: await stage.made('a boat'), sku: 'B-1', status: 'of the row' }];
		const parameters = { ...include, mode, downloadOutput: false };
		const run = await stage.run('waitForCompletion', parameters, { items });
		expect(run.output('Step')[0].json).toMatchObject({ id: items[0].id, sku: 'B-1' });
		expect(run.output('Step')[0].json.status).not.toBe('of the row');
	});

	it('works in a suspended wait, after it has resumed', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const items = [{ id, sku: 'B-1' }];
		const asleep = await stage.run('waitForCompletion', { ...include, mode: 'suspend' }, { items });
		expect(asleep.status).toBe('waiting');
		stage.sandbox.service.finish(id);
		const { generations } = stage.sandbox.books;
		const [{ json }] = (await wake(stage, asleep)).output('Step');
		expect(json).toEqual({ sku: 'B-1', ...stage.promised(generations[0]) });
	});
});
