import { type Model } from '../../../client/api/client';
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
});

describe('a search', () => {
	it.each(['', ' ', 'aurora', 'AURORA', 'image-1', 'light', 'landscapes', '2048'])(
		'finds by any known value: "%s"',
		(search) => {
			expect(matchesModel(model, search)).toBe(true);
		},
	);

	it.each(['video', 'aurora video', 'undefined', '4096'])('does not find: "%s"', (search) => {
		expect(matchesModel(model, search)).toBe(false);
		expect(matchesModel({ id: 'x' }, 'undefined')).toBe(false);
	});
});
