import fc from 'fast-check';

import { contentOf, safeFileName, SNIFF_BYTES } from '../../../nodes/shared/http/media-type';

/** Converts characters up to U+00FF to the first bytes of a file. All but SVG files are binary. */
function bytes(text: string): Uint8Array {
	return Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(/<(svg|!)/.test(text) ? 0 : 80)]);
}

/** The first bytes of each known file type. */
const FILES: Array<[mimeType: string, extension: string, head: string]> = [
	['image/png', 'png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
	['image/jpeg', 'jpg', '\xff\xd8\xff\xe1\0\x10Exif'],
	['image/gif', 'gif', 'GIF89a'],
	['image/webp', 'webp', 'RIFF\x24\x0a\0\x01WEBPVP8 '],
	['image/avif', 'avif', '\0\0\0\x1cftypavif'],
	['image/heic', 'heic', '\0\0\0\x18ftypheic'],
	['image/avif', 'avif', '\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf'],
	['image/heic', 'heic', '\0\0\0\x18ftypmsf1\0\0\0\0msf1hevc'],
	['image/svg+xml', 'svg', '<svg xmlns="http://www.w3.org/2000/svg">'],
	['image/svg+xml', 'svg', '<?xml version="1.0" encoding="UTF-8"?>\n<svg>'],
	['image/svg+xml', 'svg', '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"'],
	['video/quicktime', 'mov', '\0\0\0\x14ftypqt  '],
	['video/mp4', 'mp4', '\0\0\0\x20ftypisom'],
	['video/webm', 'webm', '\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm'],
	['video/x-matroska', 'mkv', '\x1aE\xdf\xa3\x93\x42\x82\x88matroska'],
];

const anyType = fc.oneof(
	fc.constantFrom('video/mp4', 'image/../../etc/passwd', '/', `image/${'x'.repeat(400)}`),
	fc.string(),
);
const anyName = fc.oneof(
	fc.string({ unit: 'binary', maxLength: 400 }),
	fc.string({ unit: 'grapheme', minLength: 100, maxLength: 400 }),
	fc.constantFrom('', '..', '../../etc/passwd', 'C:\\Windows', '...png', '\ud800', ' . '),
);

describe('the media type', () => {
	it.each(FILES)(
		'%s (.%s) is detected from the first bytes, whatever is stated',
		(mimeType, _, head) => {
			for (const stated of [undefined, 'text/html', 'image/x-lie', 'application/octet-stream']) {
				expect(contentOf(stated, bytes(head))).toEqual({ mimeType });
			}
			expect(Buffer.byteLength(head, 'latin1')).toBeLessThanOrEqual(SNIFF_BYTES);
		},
	);

	it.each([
		['image/svg+xml', 'image/svg+xml'],
		['Image/PNG; charset=binary', 'image/png'],
		[' video/mp4 ', 'video/mp4'],
	])('is the stated type if the bytes are inconclusive: %s', (stated, mimeType) => {
		expect(contentOf(stated, bytes('nothing known'))).toEqual({ mimeType });
	});

	it.each([
		undefined,
		'text/html; charset=utf-8',
		'garbage',
		'image/../x',
		`image/${'x'.repeat(300)}`,
	])('is unknown if the stated type is inconclusive too: %s', (stated) => {
		expect(contentOf(stated, bytes('nothing known'))).toEqual({
			mimeType: 'application/octet-stream',
		});
	});
});

describe('text content', () => {
	const isText = (head: string | Uint8Array) => 'text' in contentOf(undefined, Buffer.from(head));

	it.each([
		'<!DOCTYPE html><html>',
		'\ufeff<!doctype html>',
		'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>Expired',
		'Service temporarily overloaded',
		'{"error":"overloaded"}',
		'GIF8 is not what this is',
		'',
	])('is not mistaken for an image: %j', (text) => {
		expect(isText(text)).toBe(true);
	});

	it.each(FILES.filter(([mimeType]) => !/svg/.test(mimeType)))(
		'is not detected in the first bytes of %s (.%s)',
		(_mimeType, _extension, head) => {
			expect(isText(bytes(head))).toBe(false);
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
		['photo.png', 'image/jpeg', 'photo.jpg'],
		['clip.png', 'video/mp4', 'clip.mp4'],
		['model v1.5', 'image/png', 'model v1.5.png'],
		['drawing', 'image/svg+xml', 'drawing.svg'],
		['thing', 'application/octet-stream', 'thing.bin'],
	])('%s of %s becomes %s', (wanted, mimeType, name) => {
		expect(safeFileName(wanted, mimeType)).toBe(name);
	});

	it.each([
		['', 'output.png'],
		['..', 'output.png'],
		['../../etc/passwd', '-..-etc-passwd.png'],
		['what? "this" <is> a|b*', 'what- -this- -is- a-b-.png'],
		['line\nbreak\0', 'linebreak.png'],
		[' spaced . ', 'spaced.png'],
		['e\u0301te\u0301', '\u00e9t\u00e9.png'],
		// Windows reserves these names for devices, with any extension.
		['CON', 'CON_.png'],
		['nul.txt', 'nul_.txt.png'],
	])('%j is made safe: %s', (wanted, name) => {
		expect(safeFileName(wanted, 'image/png')).toBe(name);
	});

	it('is safe and at most 255 bytes long, whatever the user, the model or the storage says', () => {
		fc.assert(
			fc.property(anyName, anyType, (wanted, mimeType) => {
				const name = safeFileName(wanted, mimeType);
				expect(name).not.toMatch(/[/\\:*?"<>|\p{Cc}\p{Cf}\p{Cs}]/u);
				expect(name).not.toMatch(/^\.|\.$|^\s|\s$/);
				expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
			}),
		);
	});
});
