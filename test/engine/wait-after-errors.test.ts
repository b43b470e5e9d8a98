import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { byId, openStage } from './stage';

const stage = openStage();

describe('Wait for Completion after a node that continues with failed items', () => {
	const refused = { id: null, error: 'Not enough credits', error_code: 'insufficient_credits' };

	it('returns the error of an input item, and waits for the others', async () => {
		const id = await stage.made('a boat');
		const settings = { onError: 'continueRegularOutput' as const };
		const run = await stage.run('waitForCompletion', {}, { items: [refused, { id }], settings });
		expect(run.output('Step').map(({ json }) => json)).toMatchObject([
			{ ...refused, error: expect.stringMatching(/^Not enough credits/) as string, status: null },
			{ id, status: 'completed' },
		]);
	});

	it('does not say "no charge" for an item whose charge is unknown', async () => {
		stage.sandbox.faults.order({ on: 'create', action: { kind: 'loseAnswer' } });
		const settings = { onError: 'continueRegularOutput' as const };
		const model = byId('lumen-turbo');
		const parameters = { model, prompt: 'a boat', waitForCompletion: false };
		const image = ownNode('Image', 'imageGeneration', parameters, settings);
		const wait = ownNode('Step', 'waitForCompletion', {}, settings);
		const run = await stage.runWorkflow(inARow(image, wait), { items: [{}] });
		const [{ json }] = run.output('Step');
		expect(json.error_code).toBe('uncertain_charge');
		expect(json.error).not.toContain('Nothing was charged');
	});

	it.each(['batch_interrupted', 'wait_interrupted', 'record_unavailable', 'unexpected_error'])(
		'does not say "no charge" for an item that may have been charged: %s',
		async (error_code) => {
			const items = [{ id: null, error: 'It ended early', error_code }];
			const settings = { onError: 'continueRegularOutput' as const };
			const run = await stage.run('waitForCompletion', {}, { items, settings });
			expect(run.output('Step')[0].json).toMatchObject({ error_code });
			expect(run.output('Step')[0].json.error).not.toContain('Nothing was charged');
		},
	);

	it.each(['=gen_{{ $json.mistyped }}', '{{ $json.id }}'])(
		'returns that error if the ID is not a value: %s',
		async (generationId) => {
			const settings = { onError: 'continueRegularOutput' as const };
			const order = { items: [refused], settings };
			const run = await stage.run('waitForCompletion', { generationId }, order);
			expect(run.output('Step')[0].json).toMatchObject({
				...{ id: null, error_code: 'insufficient_credits' },
			});
		},
	);

	it('stops with that error if On Error is Stop', async () => {
		const run = await stage.run('waitForCompletion', {}, { items: [refused] });
		expect(run.error).toMatchObject({
			message: 'Not enough credits',
			description: expect.stringMatching(/An earlier node failed for this item.*Filter node/s),
			context: { code: 'insufficient_credits', itemIndex: 0 },
		});
		expect(stage.arrived).toBe(0);
	});
});
