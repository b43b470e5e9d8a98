import { modelNotFound, type Model } from '../../client/api/client';
import { GenerationError } from '../../client/api/errors';
import { describeModel, matchesModel } from '../../nodes/shared/model-search';

const model: Model = {
	id: 'aurora-image-1',
	type: 'image',
	name: 'Aurora Image',
	provider: 'Northlight',
	description: 'Detailed landscapes',
	max_resolution: '2048x2048',
	avg_speed_seconds: 6,
};

describe('a model in a list', () => {
	it('has a short name, which n8n shows in the form after choosing, and details in the description', () => {
		expect(describeModel(model)).toEqual({
			name: 'Aurora Image',
			description: 'Northlight, up to 2048x2048, about 6 s. Detailed landscapes.',
		});
	});

	it('is shown by its ID if nothing else is known', () => {
		expect(describeModel({ id: 'bare' })).toEqual({ name: 'bare', description: '' });
	});

	it('never shows values that the service leaves empty', () => {
		const wire =
			'{"id":"x","name":null,"provider":null,"max_resolution":"","avg_speed_seconds":null}';
		expect(describeModel(JSON.parse(wire) as Model)).toEqual({ name: 'x', description: '' });
	});
});

describe('a search', () => {
	it.each([
		'',
		' ',
		'aurora',
		'AURORA',
		'image-1',
		'light',
		'landscapes',
		'northlight  aurora',
		'2048',
	])('finds by any known value: "%s"', (search) => {
		expect(matchesModel(model, search)).toBe(true);
	});

	it.each(['video', 'aurora video', 'undefined', '4096'])('does not find: "%s"', (search) => {
		expect(matchesModel(model, search)).toBe(false);
		expect(matchesModel({ id: 'x' }, 'undefined')).toBe(false);
	});
});

describe('a model that is not in the catalog', () => {
	it('is rejected as the service rejects it', () => {
		const find = () => modelNotFound('aurora-9', [model, model]);
		expect(find).toThrow(GenerationError);
		expect(find).toThrow(
			expect.objectContaining({
				message: 'Model aurora-9 not found',
				details: 'None of the 2 models in the catalog has this ID',
				description: expect.stringContaining('Choose a model from the list') as string,
				code: 'model_not_found',
				status: 404,
				retry: 'never',
			}),
		);
	});
});
