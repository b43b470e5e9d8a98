import fc from 'fast-check';

import {
	isDocument,
	leadingText,
	mediaType,
	safeFileName,
	SNIFF_BYTES,
} from '../../../nodes/shared/http/media-type';

/** Converts characters up to U+00FF to the first bytes of a file. */
function bytes(text: string): Uint8Array {
	return Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(80)]);
}

/** Content that an SVG file may have before its tag. */
const BEFORE_SVG = [
	'',
	'\ufeff',
	'\n<?xml version="1.0" encoding="utf-8"?>\n',
	`<?xml version="1.0"?><!-- Generator: ${'x'.repeat(200)} --> <!-- > -->\n`,
];

/** The first bytes of each known file type. */
const FILES: Array<[mimeType: string, extension: string, head: string]> = [
	['image/png', 'png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
	['image/jpeg', 'jpg', '\xff\xd8\xff\xe0\0\x10JFIF'],
	['image/jpeg', 'jpg', '\xff\xd8\xff\xe1\0\x10Exif'],
	['image/gif', 'gif', 'GIF89a'],
	['image/gif', 'gif', 'GIF87a'],
	['image/webp', 'webp', 'RIFF\x24\x0a\0\x01WEBPVP8 '],
	['image/avif', 'avif', '\0\0\0\x1cftypavif'],
	['image/avif', 'avif', '\0\0\0\x1cftypavis'],
	['image/heic', 'heic', '\0\0\0\x18ftypheic'],
	['image/heic', 'heic', '\0\0\0\x18ftypheix'],
	['image/heic', 'heic', '\0\0\0\x18ftypmif1'],
	['image/avif', 'avif', '\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf'],
	['image/avif', 'avif', '\0\0\0\x1cftypmsf1\0\0\0\0msf1avismiaf'],
	['image/heic', 'heic', '\0\0\0\x18ftyphevc\0\0\0\0mif1hevc'],
	['image/heic', 'heic', '\0\0\0\x18ftypmsf1\0\0\0\0msf1hevc'],
	['image/svg+xml', 'svg', '<svg xmlns="http://www.w3.org/2000/svg">'],
	['image/svg+xml', 'svg', '<?xml version="1.0" encoding="UTF-8"?>\n<svg>'],
	['image/svg+xml', 'svg', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"'],
	['video/quicktime', 'mov', '\0\0\0\x14ftypqt  '],
	['video/mp4', 'mp4', '\0\0\0\x20ftypisom'],
	['video/mp4', 'mp4', '\0\0\0\x20ftypmp42'],
	['video/mp4', 'mp4', '\0\0\0\x18ftypM4V '],
	['video/webm', 'webm', '\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm'],
	['video/x-matroska', 'mkv', '\x1aE\xdf\xa3\x93\x42\x82\x88matroska'],
];

/** Media types of every kind, including those that only a storage would claim. */
const anyType = fc.oneof(
	fc.constantFrom(
		...new Set(FILES.map(([mimeType]) => mimeType)),
		'image/svg+xml',
		'application/octet-stream',
		'application/pdf',
		'image/x-portable-bitmap',
		'video/3gpp',
		'application/vnd.ms-powerpoint.presentation.macroenabled.12+xml',
		'image/../../etc/passwd',
		'image/',
		'/',
		'garbage',
		`image/${'x'.repeat(400)}`,
	),
	fc.string(),
);

/** Valid and invalid file names. */
const anyName = fc.oneof(
	fc.string(),
	fc.string({ unit: 'binary', maxLength: 400 }),
	fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }),
	fc.constantFrom(
		'',
		'.',
		'..',
		'../../etc/passwd',
		'C:\\Windows\\system.ini',
		'.png',
		'...png',
		'photo.jpeg',
		'clip.MP4',
		'a.b.c',
		'v1.5',
		'\ud800',
		'a\u202egnp.exe',
		'\0\x1f\x7f',
		' . ',
	),
);

describe('the media type', () => {
	it.each(FILES)('%s (.%s) is detected from the first bytes', (mimeType, _, head) => {
		expect(mediaType(undefined, bytes(head))).toBe(mimeType);
		expect(Buffer.byteLength(head, 'latin1')).toBeLessThanOrEqual(SNIFF_BYTES);
	});

	it.each(FILES)('%s (.%s) takes precedence over the stated type', (mimeType, _, head) => {
		for (const stated of ['text/html', 'image/x-lie', 'application/octet-stream', 'garbage']) {
			expect(mediaType(stated, bytes(head))).toBe(mimeType);
		}
	});

	it.each([
		['image/svg+xml', 'image/svg+xml'],
		['Image/PNG; charset=binary', 'image/png'],
		[' video/mp4 ', 'video/mp4'],
		['text/html; charset=utf-8', 'text/html'],
	])('is the stated type if the bytes are inconclusive: %s', (stated, mimeType) => {
		expect(mediaType(stated, bytes('nothing known'))).toBe(mimeType);
	});

	it.each([
		undefined,
		'',
		';',
		'text/plain',
		'text/plain; charset=utf-8',
		'garbage',
		'image/',
		'/png',
		'image/../x',
		'image/a b',
		`image/${'x'.repeat(300)}`,
	])('is unknown if the stated type is inconclusive too: %s', (stated) => {
		expect(mediaType(stated, bytes('nothing known'))).toBe('application/octet-stream');
	});

	it('of an SVG with an XML declaration is the stated type', () => {
		const head = bytes('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>');
		expect(mediaType('image/svg+xml', head)).toBe('image/svg+xml');
	});

	it('is a well-formed type for any header and any bytes', () => {
		fc.assert(
			fc.property(anyType, fc.uint8Array({ maxLength: 100 }), (stated, head) => {
				expect(mediaType(stated, head)).toMatch(/^[\w.+-]+\/[\w.+-]+$/);
			}),
		);
	});

	it('does not require any bytes', () => {
		expect(mediaType('image/png', new Uint8Array())).toBe('image/png');
	});
});

describe('text content', () => {
	const isText = (head: string | Uint8Array) => leadingText(Buffer.from(head)) !== null;
	const printable = fc.string({ unit: 'grapheme' });

	it.each([
		'<!DOCTYPE html><html>',
		'\n <html lang="en">',
		'\ufeff<!doctype html>',
		'<!-- cached --><html><svg></svg>',
		'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>Expired',
		'Service temporarily overloaded',
		'{"error":"overloaded"}',
		'GIF8 is not what this is',
		'RIFFxxxxWEBP',
		'xxxxftypisom',
		'<!---->'.repeat(146),
		'',
	])('is not mistaken for an image: %j', (text) => {
		expect(isText(text)).toBe(true);
	});

	it('is detected in any web encoding', () => {
		fc.assert(
			fc.property(printable, (text) => {
				fc.pre(!/svg/i.test(text));
				expect(isText(text)).toBe(true);
				expect(isText(`\ufeff${text}`)).toBe(true);
				expect(isText(Buffer.from(`\ufeff${text}`, 'utf16le'))).toBe(true);
				expect(isText(Buffer.from(`\ufeff${text}`, 'utf16le').swap16())).toBe(true);
				// Cut in the middle of a character.
				expect(isText(Buffer.from(text).subarray(0, -1))).toBe(true);
			}),
			{ seed: 1 },
		);
	});

	it('is detected in a legacy encoding', () => {
		expect(isText(Buffer.from('Der Dienst ist \xfcberlastet', 'latin1'))).toBe(true);
	});

	it.each(FILES.filter(([mimeType]) => !/svg/.test(mimeType)))(
		'is not detected in the first bytes of %s (.%s)',
		(_mimeType, _extension, head) => {
			expect(leadingText(bytes(head))).toBeNull();
		},
	);

	it.each(BEFORE_SVG)('is not detected in what precedes an SVG tag: %j', (before) => {
		for (const tag of ['<svg>', '<svg xmlns="…"', '<!DOCTYPE svg PUBLIC', '<svg:svg ', '<SVG/>']) {
			const head = Buffer.from(before + tag);
			expect([isText(head), mediaType('text/xml', head)]).toEqual([false, 'image/svg+xml']);
		}
	});
});

describe('a document instead of an image', () => {
	it.each([
		'text/html',
		'text/xml',
		'application/json',
		'application/xml',
		'application/xhtml+xml',
		'application/problem+json',
	])('is detected: %s', (mimeType) => {
		expect(isDocument(mimeType)).toBe(true);
	});

	it.each(['image/png', 'image/svg+xml', 'video/mp4', 'application/octet-stream', 'text/plain'])(
		'is not: %s',
		(mimeType) => {
			expect(isDocument(mimeType)).toBe(false);
		},
	);
});

describe('a file name', () => {
	it.each(FILES)('of %s ends in .%s', (mimeType, extension) => {
		expect(safeFileName('lighthouse', mimeType)).toBe(`lighthouse.${extension}`);
		expect(safeFileName('lighthouse.exe', mimeType)).toBe(`lighthouse.exe.${extension}`);
	});

	it.each([
		['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
		['photo.JPG', 'image/jpeg', 'photo.jpg'],
		['photo.png', 'image/jpeg', 'photo.jpg'],
		['clip.png', 'video/mp4', 'clip.mp4'],
		['model v1.5', 'image/png', 'model v1.5.png'],
		['a.b.c', 'image/png', 'a.b.c.png'],
		['drawing', 'image/svg+xml', 'drawing.svg'],
		['paper', 'application/pdf', 'paper.pdf'],
		['raster', 'image/x-icon', 'raster.icon'],
		['film', 'video/3gpp', 'film.3gpp'],
		['thing', 'application/vnd.oasis.opendocument.text', 'thing.bin'],
		['thing', 'application/octet-stream', 'thing.bin'],
		['thing', 'garbage', 'thing.bin'],
		['thing', 'image/../x', 'thing.bin'],
	])('%s of %s becomes %s', (wanted, mimeType, name) => {
		expect(safeFileName(wanted, mimeType)).toBe(name);
	});

	it.each([
		['', 'output.png'],
		['..', 'output.png'],
		['/', '-.png'],
		['../../etc/passwd', '-..-etc-passwd.png'],
		['C:\\a\\b', 'C--a-b.png'],
		['what? "this" <is> a|b*', 'what- -this- -is- a-b-.png'],
		['line\nbreak\0', 'linebreak.png'],
		[' spaced . ', 'spaced.png'],
		['e\u0301te\u0301', '\u00e9t\u00e9.png'],
		['絵', '絵.png'],
		// Windows reserves these names for devices, with any extension.
		['CON', 'CON_.png'],
		['nul.txt', 'nul_.txt.png'],
		['lpt1', 'lpt1_.png'],
		['console', 'console.png'],
	])('%j is made safe: %s', (wanted, name) => {
		expect(safeFileName(wanted, 'image/png')).toBe(name);
	});

	it('never contains a separator, control character or reserved character', () => {
		fc.assert(
			fc.property(anyName, anyType, (wanted, mimeType) => {
				const name = safeFileName(wanted, mimeType);
				expect(name).not.toMatch(/[/\\:*?"<>|\p{Cc}\p{Cf}\p{Cs}]/u);
				expect(name).not.toMatch(/^\.|\.$|^\s|\s$/);
			}),
		);
	});

	it('is never longer than 255 bytes, and never cut within a character', () => {
		fc.assert(
			fc.property(anyName, anyType, (wanted, mimeType) => {
				const name = safeFileName(wanted, mimeType);
				expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
				expect(Buffer.from(name).toString()).toBe(name);
			}),
		);
	});

	it('always has a name and an extension that matches the type', () => {
		fc.assert(
			fc.property(anyName, fc.constantFrom(...FILES), (wanted, [mimeType, extension]) => {
				const [, stem, last] = /^(.+)\.([a-z0-9]+)$/s.exec(safeFileName(wanted, mimeType)) ?? [];
				expect(stem).toBeTruthy();
				// If a type has a second extension, a requested one is kept.
				expect(safeFileName(`x.${last}`, mimeType)).toBe(`x.${last}`);
				expect(safeFileName('x', mimeType)).toBe(`x.${extension}`);
			}),
		);
	});

	it('that is already safe is unchanged', () => {
		fc.assert(
			fc.property(anyName, anyType, (wanted, mimeType) => {
				const name = safeFileName(wanted, mimeType);
				expect(safeFileName(name, mimeType)).toBe(name);
			}),
		);
	});
});
