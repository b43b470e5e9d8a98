import fc from 'fast-check';

import type { InvalidInputError } from '../../../nodes/shared/form/checks';
import { fetchableUrl, urlList, webUrl } from '../../../nodes/shared/form/urls';
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

describe('a URL of a start image', () => {
	it.each([
		'https://example.com/a.png',
		' http://example.com/a.png ',
		'HTTP://10.0.0.1:8080/a.png',
	])('may be http, which the service accepts for videos: %s', (text) => {
		expect(webUrl('URL', text)).toBe(text.trim());
	});

	it.each(['', 'a.png', 'example.com/a.png', 'http:/example.com/a.png', 'ftp://example.com/a.png'])(
		'is rejected: %s',
		(value) => {
			expectRefused(webUrl, value);
		},
	);

	it('that is rejected says that http is accepted', () => {
		expect(() => webUrl('Input Image URL', 'data:image/png;base64,iVBORw0KGgo=')).toThrow(
			'Input Image URL must be an https:// or http:// URL, not ',
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
		expect(urlList('Image', value, fetchableUrl)).toEqual(urls);
	});

	it.each([
		'https://img.example.com/w_200,h_100,c_fill/a.png',
		'https://img.example.com/fetch/f_auto,q_80/https://example.com/a.png',
		'https://example.com/a.png?crop=1,2,3,4',
	])('are not split at the commas of an image service: %s', (url) => {
		expect(urlList('Image', url, fetchableUrl)).toEqual([url]);
		expect(urlList('Image', `${url},${urls[0]}, ${url}\n${url},`, fetchableUrl)).toEqual([
			url,
			urls[0],
			url,
			url,
		]);
	});

	it('are an empty list if the field is empty', () => {
		expect(urlList('Image', '', fetchableUrl)).toEqual([]);
		expect(urlList('Image', [], fetchableUrl)).toEqual([]);
	});

	it('that are rejected are numbered from 1', () => {
		expect(() => urlList('Image', [urls[0], 'b.png'], fetchableUrl)).toThrow(
			'Image 2 must be an https:// URL, not "b.png"',
		);
	});
});
