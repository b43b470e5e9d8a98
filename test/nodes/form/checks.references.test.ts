import fc from 'fast-check';

import { dataUri, inlineSize, MAX_INLINE_BYTES } from '../../../nodes/shared/form/checks';
import { accepted, expectRefused } from '../../support/checks';

describe('a data URI', () => {
	it.each([
		'data:image/png;base64,iVBORw0KGgo=',
		'data:image/svg+xml;charset=utf-8;base64,PHN2Zz4=',
		'  data:video/mp4;base64,AAAA  ',
	])('is accepted: %s', (text) => {
		expect(dataUri('Data', text)).toBe(text.trim());
	});

	it.each([
		'',
		'iVBORw0KGgo=',
		'data:,hello',
		'data:image/png,iVBORw0KGgo=',
		'data:image/png;base64,',
		'data:image/png;base64,iVBO*',
		'data:image/png;base64,iVBORw0KGgo===',
		'data:image/png;base64,iV=BO',
		'data:image/png;base64,iVBOR',
		'data:image;base64,iVBO',
		'https://example.com/a.png',
		null,
	])('is rejected: %s', (value) => {
		expectRefused(dataUri, value);
	});

	it('has the same size limit as an inline input', () => {
		const uri = (bytes: number) =>
			`data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`;
		for (const bytes of [MAX_INLINE_BYTES - 1, MAX_INLINE_BYTES]) {
			const text = uri(bytes);
			expect(accepted(() => dataUri('Data', text)) === text).toBe(true);
		}
		for (const bytes of [MAX_INLINE_BYTES + 1, MAX_INLINE_BYTES + 2]) {
			expectRefused(dataUri, uri(bytes));
		}
	});

	it('may have line breaks, which do not count', () => {
		const base64 = Buffer.alloc(MAX_INLINE_BYTES).toString('base64');
		const lines = `data:image/png;base64,\n${base64.replace(/.{76}/g, '$&\n')}`;
		const sent = accepted(() => dataUri('Data', lines));
		expect(sent === `data:image/png;base64,${base64}`).toBe(true);
	});

	it.each([
		['UklGRg', 'UklGRg=='],
		['UklGRi0', 'UklGRi0='],
	])('is sent with its padding: %s', (bare, padded) => {
		expect(dataUri('Data', `data:audio/wav;base64,${bare}`)).toBe(
			`data:audio/wav;base64,${padded}`,
		);
	});

	it('of any bytes is accepted unchanged', () => {
		fc.assert(
			fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
				const text = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
				expect(dataUri('Data', text)).toBe(text);
			}),
		);
	});

	it('with a million spaces is rejected without a quadratic search', () => {
		const gap = `data:image/png;base64,A${' '.repeat(1_000_000)}*`;
		expectRefused(dataUri, gap);
	});
});

describe('the size of an inline input', () => {
	it('is 4.5 MB at most', () => {
		expect(MAX_INLINE_BYTES).toBe(4_718_592);
		expect(() => inlineSize('Input', MAX_INLINE_BYTES)).not.toThrow();
		expect(() => inlineSize('Input', MAX_INLINE_BYTES + 1)).toThrow('Input is too large: 4.6 MB');
		expect(() => inlineSize('Input', 12 * 1024 * 1024)).toThrow('12.0 MB');
	});
});
