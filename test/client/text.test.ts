import { sentences } from '../../client/text';

describe('sentences', () => {
	it('joins what there is to say, each with its full stop', () => {
		expect(sentences('One', 'Two.', null, undefined, false, '', 'Three?', 'Four!')).toBe(
			'One. Two. Three? Four!',
		);
		expect(sentences('v1.5 is old', 'v2 is not')).toBe('v1.5 is old. v2 is not.');
		expect(sentences()).toBe('');
	});
});
