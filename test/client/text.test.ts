import fc from 'fast-check';

import { firstWords, itemNames, sentences } from '../../client/text';

describe('the items in a text', () => {
	it('count from 1, and the total shows it', () => {
		expect(itemNames([2], 12)).toBe('item 3 of 12');
		expect(itemNames([0, 11], 12)).toBe('items 1, 12 of 12');
		expect(itemNames([0])).toBe('item 1');
	});
});

describe('sentences', () => {
	it('are joined, each with its period', () => {
		expect(sentences('One', 'Two.', null, undefined, false, '', 'Three?', 'Four!')).toBe(
			'One. Two. Three? Four!',
		);
		expect(sentences('v1.5 is old', 'v2 is not')).toBe('v1.5 is old. v2 is not.');
		expect(sentences()).toBe('');
	});
});

describe('a text of another system', () => {
	it('is quoted by its first words, without keys, markup or control characters', () => {
		const key = `svc_live_${'0123456789abcdef'.repeat(2)}01234567`;
		fc.assert(
			fc.property(fc.string(), fc.string(), (before, after) => {
				const words = firstWords(`${before}${key}<b>${after}`);
				expect(words).not.toMatch(/svc_live|0123456789abcdef|<b>|\p{C}/u);
				expect(words.length).toBeLessThanOrEqual(101);
			}),
			{ seed: 1, numRuns: 100 },
		);
	});
});
