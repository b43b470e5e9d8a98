import { modelNotFound, type Model } from '../../../client/api/client';
import { GenerationError } from '../../../client/api/errors';
import { describeModel, matchesModel, nameWithFacts } from '../../../nodes/shared/run/model-search';

const model: Model = {
	id: 'aurora-image-1',
	type: 'image',
	name: 'Aurora Image',
	provider: 'Northlight',
	description: 'Detailed landscapes',
	max_resolution: '2048x2048',
	avg_speed_seconds: 6,
};

describe('a model in the model picker, where n8n shows the name only', () => {
	it('has its speed, its largest size and what it is good at in its name', () => {
		expect(nameWithFacts({ ...model, description: 'Landscapes' })).toBe(
			'Aurora Image · takes about 6 s · 2048x2048 · Landscapes',
		);
		expect(nameWithFacts({ id: 'bare' })).toBe('bare');
	});

	it('has no name that is too long for the picker, and none that ends within a word', () => {
		const described = (description: string) => nameWithFacts({ ...model, description });
		const head = 'Aurora Image · takes about 6 s · 2048x2048 ·';
		expect(described('Detailed landscapes')).toBe(`${head} Detailed…`);
		for (let length = 1; length < 60; length++) {
			const name = described(`${'a'.repeat(length)} b${'c'.repeat(90)}`);
			expect(name).toBe(`${head} ${'a'.repeat(length)}…`.replace(/ · a{12,}…/, '…'));
			expect(name.length).toBeLessThanOrEqual(57);
		}
	});
});

describe('a model in a list', () => {
	it('has its name, and details in the description', () => {
		expect(describeModel(model)).toEqual({
			name: 'Aurora Image',
			description: 'Northlight, up to 2048x2048, takes about 6 s. Detailed landscapes.',
		});
	});

	it('is shown by its ID if nothing else is known', () => {
		expect(describeModel({ id: 'bare' })).toEqual({ name: 'bare', description: '' });
	});

	it('is listed although its name or description is no text', () => {
		const wire = '{"id":"x","name":4,"description":{"en":"Fast"}}';
		const odd = JSON.parse(wire) as Model;
		expect(describeModel(odd)).toEqual({ name: 'x', description: '' });
		expect(nameWithFacts(odd)).toBe('x');
	});

	it('has a speed with at most one decimal place, and only a provider that is text', () => {
		const wire = '{"id":"x","name":"X","provider":{"name":"Y"},"avg_speed_seconds":8.3333}';
		const odd = JSON.parse(wire) as Model;
		expect(describeModel(odd)).toEqual({ name: 'X', description: 'takes about 8.3 s.' });
		expect(nameWithFacts(odd)).toBe('X · takes about 8.3 s');
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
