import fc from 'fast-check';

import { defaultFileName } from '../../../client/wire/file-name';
import { safeFileName } from '../../../client/wire/media-type';

const made = { id: '8706c4eb-fb26-47fd-a7e7-9d2b47f66630', model: 'aurora-image-1' };

describe('the name of a file for which none was wished', () => {
	it.each([
		['A lighthouse, at dusk!', 'a-lighthouse-at-dusk-47f66630'],
		['  ', 'aurora-image-1-47f66630'],
		['???', 'aurora-image-1-47f66630'],
		[null, 'aurora-image-1-47f66630'],
		[
			'A lighthouse on a cliff at dusk, oil painting, warm light',
			'a-lighthouse-on-a-cliff-at-dusk-oil-47f66630',
		],
		['Straße 7, Zürich', 'straße-7-zürich-47f66630'],
		['海辺の灯台', '海辺の灯台-47f66630'],
		[`${'x'.repeat(60)} y`, `${'x'.repeat(40)}-47f66630`],
		['../../etc/passwd', 'etc-passwd-47f66630'],
	])('of %j is %s', (prompt, name) => {
		expect(defaultFileName(made, prompt)).toBe(name);
	});

	it('does without a model, and takes ids of any form', () => {
		expect(defaultFileName({ id: 'gen_7', model: null }, null)).toBe('gen7');
	});

	it('is safe as it is, whatever the prompt', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (prompt) => {
				const name = defaultFileName(made, prompt);
				expect(name).toMatch(/[^.\s]/);
				expect(safeFileName(name, 'image/png')).toBe(`${name.normalize('NFC')}.png`);
			}),
		);
	});
});
