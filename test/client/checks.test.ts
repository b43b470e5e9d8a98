import fc from 'fast-check';

import {
	aspectRatio,
	dataUri,
	duration,
	fetchableUrl,
	fetchableUrls,
	generationId,
	FRAME_RATES,
	inlineSize,
	INPUT_TYPES,
	integer,
	MAX_INLINE_BYTES,
	number,
	oneOf,
	plainText,
	positive,
	requiredText,
	RESOLUTIONS,
	size,
} from '../../client/checks';
import { InvalidInputError } from '../../client/errors';

type Check = (field: string, value: unknown) => unknown;

/** A value and what the error has to say of it. */
function expectRefused(check: Check, value: unknown): void {
	let thrown: unknown;
	try {
		check('The Field', value);
	} catch (error) {
		thrown = error;
	}
	expect(thrown).toBeInstanceOf(InvalidInputError);
	const { message, description } = thrown as InvalidInputError;
	expect(message).toMatch(/^The Field/);
	expect(message.length).toBeLessThan(200);
	expect(description).not.toBe('');
}

/** Anything that may come out of an expression. */
const anything = fc.oneof(
	fc.string(),
	fc.string({ unit: 'binary' }),
	fc.double(),
	fc.integer(),
	fc.constantFrom(null, undefined, true, false, NaN, Infinity, [], {}),
);

/** Runs a check; `undefined` where it refuses. Throws what is no refusal. */
function accepted<T>(check: () => T): T | undefined {
	try {
		return check();
	} catch (error) {
		if (error instanceof InvalidInputError) return undefined;
		throw error;
	}
}

describe('a text', () => {
	it.each([
		[' A cat ', ' A cat '],
		[7, '7'],
		[true, 'true'],
		[['a', 'b'], 'a,b'],
		['[object Object]', '[object Object]'],
		[null, ''],
	])('is what is given, written out: %j', (value, written) => {
		expect(plainText('Prompt', value)).toBe(written);
	});

	it.each([[{}], [{ text: 'A cat' }], [['A cat', { a: 1 }]]])('is no object: %j', (value) => {
		expectRefused(plainText, value);
		expectRefused(requiredText, value);
	});
});

describe('a required text', () => {
	it('comes without the space around it', () => {
		expect(requiredText('Prompt', '  A cat\n')).toBe('A cat');
		expect(requiredText('ID', 12)).toBe('12');
		expect(requiredText('ID', 0)).toBe('0');
	});

	it.each([[''], [' \n\t '], [undefined], [null]])(
		'is refused where there is none: %j',
		(value) => {
			expectRefused(requiredText, value);
		},
	);
});

describe('a size', () => {
	it.each(['1024x1024', '1x1', ' 1280x720 '])('is accepted: %s', (text) => {
		expect(size('Size', text)).toBe(text.trim());
	});

	it.each([
		'',
		'1024',
		'1024x',
		'x1024',
		'0x10',
		'1024X1024',
		'1024×1024',
		'-1x5',
		'1.5x2',
		'1024x1024x3',
		'1024 x 1024',
		'01x1',
		'auto',
		null,
		1024,
	])('is refused: %s', (value) => {
		expectRefused(size, value);
	});

	it('is never anything but two whole numbers above 0 with an x between', () => {
		fc.assert(
			fc.property(anything, (value) => {
				const text = accepted(() => size('Size', value));
				if (text !== undefined) expect(text).toMatch(/^[1-9][0-9]*x[1-9][0-9]*$/);
			}),
		);
	});
});

describe('an aspect ratio', () => {
	it.each(['16:9', '1:1', ' 9:16 '])('is accepted: %s', (text) => {
		expect(aspectRatio('Aspect Ratio', text)).toBe(text.trim());
	});

	it.each(['', '16', '16/9', '0:1', '16:9:1', '1.85:1', 'x:y', null])('is refused: %s', (value) => {
		expectRefused(aspectRatio, value);
	});
});

describe('a whole number', () => {
	it.each([
		[0, 0],
		[-7, -7],
		['42', 42],
		[' 42 ', 42],
		[2 ** 53 - 1, 2 ** 53 - 1],
	])('is accepted: %j', (value, read) => {
		expect(integer('Seed', value)).toBe(read);
	});

	it.each([
		1.5,
		'1.5',
		'',
		' ',
		'seven',
		'7 cats',
		null,
		undefined,
		true,
		NaN,
		Infinity,
		2 ** 53,
		[],
	])('is refused: %j', (value) => {
		expectRefused(integer, value);
	});
});

describe('a number', () => {
	it.each([
		[0, 0],
		[-1.5, -1.5],
		['2.5', 2.5],
	])('is accepted: %j', (value, read) => {
		expect(number('Number', value)).toBe(read);
	});

	it.each(['', 'many', null, undefined, true, NaN, Infinity, '1,5', {}])(
		'is refused: %j',
		(value) => {
			expectRefused(number, value);
		},
	);
});

describe('a positive number', () => {
	it('is above 0, or at least what it has to be', () => {
		expect(positive('Timeout', '0.5')).toBe(0.5);
		expect(positive('Max Concurrent', 1, 1)).toBe(1);
	});

	it.each([0, -1, '0', '', NaN, Infinity, null, 'soon'])('is refused: %j', (value) => {
		expectRefused(positive, value);
	});

	it('below its least is refused, and the error says which that is', () => {
		expect(() => positive('Max Concurrent', 0.5, 1)).toThrow('not a number of at least 1');
		expect(() => positive('Timeout', 0)).toThrow('not a number above 0');
	});
});

describe('the duration of a video', () => {
	it.each([0.5, 4, '4', 10])('is accepted: %j', (value) => {
		expect(duration('Duration', value)).toBe(Number(value));
	});

	it.each([0, -4, 10.01, 11, '', 'long', NaN, null])('is refused: %j', (value) => {
		expectRefused(duration, value);
	});

	it('is never longer than any model allows', () => {
		fc.assert(
			fc.property(anything, (value) => {
				const seconds = accepted(() => duration('Duration', value)) ?? 1;
				expect(seconds > 0 && seconds <= 10).toBe(true);
			}),
		);
	});
});

describe('a choice', () => {
	it('is what is allowed, in the form that is sent', () => {
		expect(RESOLUTIONS.map((text) => oneOf('Resolution', text, RESOLUTIONS))).toEqual([
			'480p',
			'720p',
			'1080p',
		]);
		expect([12, '24', 30].map((rate) => oneOf('FPS', rate, FRAME_RATES))).toEqual([12, 24, 30]);
		expect(INPUT_TYPES).toEqual(['image', 'video', 'audio']);
	});

	it.each(['', '720', '4k', 25, null, undefined])('is refused: %j', (value) => {
		expectRefused((field, given) => oneOf(field, given, [...RESOLUTIONS, ...FRAME_RATES]), value);
	});

	it('that is refused says what there is to choose from', () => {
		const thrown = accepted(() => oneOf('FPS', 30, FRAME_RATES));
		expect(thrown).toBe(30);
		try {
			oneOf('FPS', 25, FRAME_RATES);
		} catch (error) {
			expect((error as InvalidInputError).description).toBe('Choose one of 12, 24, 30.');
		}
		expect.assertions(2);
	});
});

describe('a URL that the service is to fetch', () => {
	it.each([
		'https://example.com/a.png',
		'HTTPS://example.com/a.png?x=1&y=%20#z',
		' https://example.com/a b.png ',
		'http://localhost:8080/a.png',
		'http://127.0.0.1/a.png',
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
	])('is refused: %s', (value) => {
		expectRefused(fetchableUrl, value);
	});

	it('is never anything but https, or http on this machine', () => {
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
		['an array with empty ones', ['', ...urls, ' ']],
	])('are read from %s', (_, value) => {
		expect(fetchableUrls('Image', value)).toEqual(urls);
	});

	it('are none where nothing is given', () => {
		expect(fetchableUrls('Image', '')).toEqual([]);
		expect(fetchableUrls('Image', [])).toEqual([]);
	});

	it('that are refused are counted for people', () => {
		expect(() => fetchableUrls('Image', [urls[0], 'b.png'])).toThrow('Image 2 "b.png"');
	});
});

describe('a data URI', () => {
	it.each([
		'data:image/png;base64,iVBORw0KGgo=',
		'data:image/svg+xml;charset=utf-8;base64,PHN2Zz4=',
		'data:audio/x-wav;base64,UklG\nRg==',
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
		'data:image;base64,iVBO',
		'https://example.com/a.png',
		null,
	])('is refused: %s', (value) => {
		expectRefused(dataUri, value);
	});

	it('holds exactly what an inline input may hold', () => {
		const uri = (bytes: number) =>
			`data:image/png;base64,${Buffer.alloc(bytes).toString('base64')}`;
		for (const bytes of [MAX_INLINE_BYTES - 1, MAX_INLINE_BYTES]) {
			expect(accepted(() => dataUri('Data', uri(bytes)))).toHaveLength(uri(bytes).length);
		}
		for (const bytes of [MAX_INLINE_BYTES + 1, MAX_INLINE_BYTES + 2, 3 * MAX_INLINE_BYTES]) {
			expectRefused(dataUri, uri(bytes));
		}
	});

	it('may have line breaks, which do not count', () => {
		const base64 = Buffer.alloc(MAX_INLINE_BYTES).toString('base64');
		const lines = `data:image/png;base64,\n${base64.replace(/.{76}/g, '$&\n')}`;
		expect(accepted(() => dataUri('Data', lines))).toBe(lines.trim());
	});

	it('of any bytes is accepted as it is', () => {
		fc.assert(
			fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
				const text = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
				expect(dataUri('Data', text)).toBe(text);
			}),
		);
	});

	it('with a long gap is refused as quickly as any other', () => {
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

describe('the id of a generation', () => {
	it.each(['7f9c24e8-3b1a', ' 7f9c24e8-3b1a ', 'a/b', '...', 'a.b'])('may be %j', (id) => {
		expect(generationId('Generation ID', id)).toBe(id.trim());
	});

	it.each(['.', '..', '', ' '])('may not be %j', (id) => {
		expect(() => generationId('Generation ID', id)).toThrow(InvalidInputError);
	});
});
