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
	it('has its speed and its largest size in its name', () => {
		expect(nameWithFacts(model)).toBe('Aurora Image · takes about 6 s · 2048x2048');
		expect(nameWithFacts({ id: 'bare' })).toBe('bare');
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
