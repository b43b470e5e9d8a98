/** A file type: its extensions, the usual one first, and its first bytes (latin1) at `offset`. */
type FileType = [mimeType: string, extensions: string[], bytes?: RegExp, offset?: number];

/** Number of bytes needed to detect a type. Comments before the tag of an SVG can be long. */
export const SNIFF_BYTES = 1024;

/** Number of bytes that a signature may examine. */
const SIGNATURE_BYTES = 64;

/** The first match counts. */
const FILE_TYPES: FileType[] = [
	['image/png', ['png'], /^\x89PNG\r\n/],
	['image/jpeg', ['jpg', 'jpeg'], /^\xff\xd8\xff/],
	['image/gif', ['gif'], /^GIF8/],
	['image/webp', ['webp'], /^RIFF[^]{4}WEBP/],
	// Both may start with a generic image brand and name the specific one after it.
	['image/avif', ['avif'], /^ftyp(avi[fs]|m[is]f1[^]*avi[fs])/, 4],
	['image/heic', ['heic', 'heif'], /^ftyp(he[iv][cmsx]|m[is]f1)/, 4],
	['video/quicktime', ['mov', 'qt'], /^ftypqt {2}/, 4],
	['video/mp4', ['mp4', 'm4v'], /^ftyp/, 4],
	['video/webm', ['webm'], /^.E\xdf\xa3[^]*webm/s],
	['video/x-matroska', ['mkv'], /^.E\xdf\xa3[^]*matroska/s],
	['image/svg+xml', ['svg']],
	['application/octet-stream', ['bin']],
];

const MIME_TYPE = /^[\w+-]+\/[\w+-][\w.+-]{0,99}$/;

/** Maximum length of a file name in bytes. Common file systems allow more; storages may add a suffix. */
export const MAX_NAME_BYTES = 200;

/**
 * Returns the MIME type of a file, from its first bytes or else from the stated type.
 *
 * @param stated a Content-Type header; parameters are allowed
 * @param head the first bytes of the file, at least `SNIFF_BYTES` if it is that long
 */
export function mediaType(stated: string | undefined, head: Uint8Array): string {
	const plain = stated?.split(';')[0].trim().toLowerCase() ?? '';
	const telling = MIME_TYPE.test(plain) && plain !== 'text/plain';
	if (isSvg(decoded(head))) return 'image/svg+xml';
	return sniff(head) ?? (telling ? plain : 'application/octet-stream');
}

function sniff(head: Uint8Array): string | undefined {
	const text = String.fromCharCode(...head.subarray(0, SIGNATURE_BYTES));
	return FILE_TYPES.find(([, , bytes, offset = 0]) => bytes?.test(text.slice(offset)))?.[0];
}

/** True if the stated type is a page or an error document instead of an image or video. */
export function isDocument(mimeType: string): boolean {
	return /^(text\/(?!plain)|application\/(json|xml|xhtml\+xml|problem\+json)$)/.test(mimeType);
}

/** Control characters that occur in text. Every image and video has others among its first bytes. */
const TEXT_CONTROLS = '\t\n\f\r\x1b';

/**
 * Returns the start of a text file, such as a page or an error message of a storage. Returns `null` for anything that
 * may be an image or video: binary files and SVG.
 */
export function leadingText(head: Uint8Array): string | null {
	const text = decoded(head);
	const isBinary = [...text].some((each) => each < ' ' && !TEXT_CONTROLS.includes(each));
	return isBinary || isSvg(text) ? null : text;
}

function decoded(head: Uint8Array): string {
	const [first, second] = head;
	const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
	const encoding = first === 0xff ? 'utf-16le' : 'utf-16be';
	return new TextDecoder(isUtf16 ? encoding : 'utf-8').decode(head);
}

function isSvg(text: string): boolean {
	let rest = text;
	// One prolog or comment at a time: a single pattern for all of them is extremely slow on some texts.
	for (let before = ''; before !== rest; ) {
		before = rest;
		rest = rest.replace(/^\s*(<\?[^]*?\?>|<!--[^]*?-->)/, '');
	}
	return /^\s*<(!doctype\s+|\w+:)?svg[\s>/]/i.test(rest);
}

/**
 * Returns a file name that every storage accepts, with the extension of its type.
 *
 * @param wanted any text; path separators and reserved characters are replaced, control characters are removed
 */
export function safeFileName(wanted: string, mimeType: string): string {
	const cleaned = wanted
		.normalize('NFC')
		.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
		.replace(/[/\\:*?"<>|]/g, '-')
		.replace(/^[.\s]+|[.\s]+$/g, '')
		// Windows reserves these names, even with an extension.
		.replace(/^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, '$1_');
	const extensions = extensionsOf(mimeType);
	const own = extensionIn(cleaned, extensions);
	const stem = (own === '' ? cleaned : cleaned.slice(0, -own.length - 1)) || 'output';
	const extension = extensions.includes(own) ? own : extensions[0];
	return `${truncated(stem, MAX_NAME_BYTES - extension.length - 1)}.${extension}`;
}

/** Derives the extension of an unknown type from its name, if possible. */
function extensionsOf(mimeType: string): string[] {
	const known = FILE_TYPES.find(([type]) => type === mimeType)?.[1];
	return known ?? [/^[^/]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(mimeType)?.[1] ?? 'bin'];
}

/** Returns the extension of a name if it is a known file type. The end of "v1.5" is not. */
function extensionIn(name: string, ofType: string[]): string {
	const last = /\.([^.]+)$/.exec(name)?.[1].toLowerCase() ?? '';
	const known = FILE_TYPES.flatMap(([, extensions]) => extensions);
	return [...ofType, ...known].includes(last) ? last : '';
}

/** Truncates to a number of bytes in UTF-8, between characters. */
export function truncated(text: string, bytes: number): string {
	const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
	return text.slice(0, read);
}
