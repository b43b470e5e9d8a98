import fc from 'fast-check';

import {
	type InvalidInputError,
	dataUri,
	fetchableUrl,
	fetchableUrls,
	inlineSize,
	MAX_INLINE_BYTES,
} from '../../../nodes/shared/form/checks';
import { accepted, anything, expectRefused } from '../../support/checks';

describe('a URL that the service fetches', () => {
	it.each([
		'https://example.com/a.png',
		'HTTPS://example.com/a.png?x=1&y=%20#z',
		' https://example.com/a b.png ',
		'https://example.com/a boat, at sea.png',
		'https://img.example.com/fetch/f_auto,q_80/https://example.com/a.png',
		'http://localhost:8080/a.png',
		'http://127.0.0.1/a.png',
		'http://127.0.0.10/a.png',
		'http://[::1]:5678/a.png',
	])('is accepted: %s', (text) => {
		expect(fetchableUrl('URL', text)).toBe(text.trim());
	});

	it.each([
		'',
		'a.png',
		'example.com/a.png',
		'http://example.com/a.png',
		'http://127.0.0.1.example.com/a.png',
		'http://localhost.example.com/a.png',
		'http://notlocalhost/a.png',
		'http://192.168.0.1/a.png',
		'https://',
		'https://exa mple.com/a.png',
		'https://example.com:99999/a.png',
		'https:example.com/a.png',
		'https:/example.com/a.png',
		'ht\ntps://example.com',
		'ftp://example.com/a.png',
		'file:///etc/passwd',
		'data:image/png;base64,iVBORw0KGgo=',
		'javascript:alert(1)',
		null,
		42,
		`http://example.com/${'a'.repeat(5000)}`,
	])('is rejected: %s', (value) => {
		expectRefused(fetchableUrl, value);
	});

	it('that is rejected comes with advice for a file that is not on the web', () => {
		const dataUri = 'data:image/png;base64,iVBORw0KGgo=';
		const adviceOf = (...more: string[]) => {
			try {
				fetchableUrl('Input Image URL', dataUri, ...more);
			} catch (error) {
				return (error as InvalidInputError).description;
			}
			return null;
		};
		expect(adviceOf()).toMatch(/Upload a file first, .* and enter its URL\.$/);
		expect(adviceOf('Choose another source.')).toMatch(
			/over https only\. Choose another source\.$/,
		);
	});

	it.each([
		['a list', ['https://example.com/a.png', 'https://example.com/b.png']],
		['a list with an incomplete URL', ['https://example.com/a.png', 'b.png']],
		['commas', 'https://example.com/a.png,https://example.com/b.png'],
		['commas and spaces', 'https://example.com/a.png, https://example.com/b.png'],
		['line breaks', 'https://example.com/a.png\nhttps://example.com/b.png'],
	])('is a single one: several in %s are not combined and charged', (_, value) => {
		expect(() => fetchableUrl('URL', value)).toThrow('URL contains several URLs');
		expect(fetchableUrl('URL', ['https://example.com/a.png'])).toBe('https://example.com/a.png');
	});

	it('is always https, or http on this machine', () => {
		const hosts = fc.constantFrom('localhost', '127.0.0.1', 'example.com', '10.0.0.1', '');
		const schemes = fc.constantFrom('http:', 'https:', 'HTTPS:', 'ftp:', 'file:', 'h\tttp:', '');
		const slashes = fc.constantFrom('//', '/', '', '\\\\', '///');
		const urls = fc.tuple(schemes, slashes, hosts, fc.webPath()).map((parts) => parts.join(''));
		fc.assert(
			fc.property(fc.oneof(urls, anything), (value) => {
				const text = accepted(() => fetchableUrl('URL', value));
				if (text !== undefined) {
					expect(text).toMatch(/^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1))/i);
				}
			}),
			{ numRuns: 1000 },
		);
	});
});

describe('several URLs', () => {
	const urls = ['https://example.com/a.png', 'https://example.com/b.png'];

	it.each<[string, unknown]>([
		['commas', urls.join(', ')],
		['line breaks', `${urls.join('\n')}\n`],
		['empty parts', `,${urls[0]},,${urls[1]},`],
		['an array', urls],
		['an array with empty elements', ['', ...urls, ' ', null]],
		['commas alone', urls.join()],
		['commas and line breaks', urls.join(',\r\n')],
	])('are read from %s', (_, value) => {
		expect(fetchableUrls('Image', value)).toEqual(urls);
	});

	it.each([
		'https://img.example.com/w_200,h_100,c_fill/a.png',
		'https://img.example.com/fetch/f_auto,q_80/https://example.com/a.png',
		'https://example.com/a.png?crop=1,2,3,4',
	])('are not split at the commas of an image service: %s', (url) => {
		expect(fetchableUrls('Image', url)).toEqual([url]);
		expect(fetchableUrls('Image', `${url},${urls[0]}, ${url}\n${url},`)).toEqual([
			url,
			urls[0],
			url,
			url,
		]);
	});

	it('are an empty list if the field is empty', () => {
		expect(fetchableUrls('Image', '')).toEqual([]);
		expect(fetchableUrls('Image', [])).toEqual([]);
	});

	it('that are rejected are numbered from 1', () => {
		expect(() => fetchableUrls('Image', [urls[0], 'b.png'])).toThrow(
			'Image 2 must be an https:// URL, not "b.png"',
		);
	});
});

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
