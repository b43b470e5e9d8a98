/** How files of a type begin. */
interface Signature {
	mimeType: string;
	/** Bytes (latin1) at `offset`. */
	bytes: string | RegExp;
	offset?: number;
}

/** How many of the first bytes are needed: the comments before the tag of an SVG are long. */
export const SNIFF_BYTES = 1024;

/** How many of them a signature may look at. */
const SIGNATURE_BYTES = 64;

const SIGNATURES: Signature[] = [
	{ mimeType: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
	{ mimeType: 'image/jpeg', bytes: '\xff\xd8\xff' },
	{ mimeType: 'image/gif', bytes: 'GIF8' },
	{ mimeType: 'image/webp', bytes: /^RIFF[^]{4}WEBP/ },
	// Both may begin as a picture of no certain kind, and tell theirs after that.
	{ mimeType: 'image/avif', bytes: /^ftyp(avi[fs]|m[is]f1[^]*avi[fs])/, offset: 4 },
	{ mimeType: 'image/heic', bytes: /^ftyp(he[iv][cmsx]|m[is]f1)/, offset: 4 },
	{ mimeType: 'image/bmp', bytes: /^BM[^]{4}\0{4}/ },
	{ mimeType: 'image/tiff', bytes: /^(II\*\0|MM\0\*)/ },
	{ mimeType: 'video/quicktime', bytes: 'ftypqt  ', offset: 4 },
	{ mimeType: 'audio/mp4', bytes: 'ftypM4A ', offset: 4 },
	{ mimeType: 'video/mp4', bytes: 'ftyp', offset: 4 },
	{ mimeType: 'video/webm', bytes: /^.E\xdf\xa3[^]*webm/s },
	{ mimeType: 'video/x-matroska', bytes: /^.E\xdf\xa3[^]*matroska/s },
	{ mimeType: 'video/x-msvideo', bytes: /^RIFF[^]{4}AVI / },
	{ mimeType: 'audio/wav', bytes: /^RIFF[^]{4}WAVE/ },
	{ mimeType: 'video/ogg', bytes: /^OggS[^]{25}(theora|video)/ },
	{ mimeType: 'audio/ogg', bytes: 'OggS' },
	{ mimeType: 'audio/flac', bytes: 'fLaC' },
	{ mimeType: 'audio/mpeg', bytes: /^(ID3|\xff[\xfb\xf3\xf2])/ },
];

const EXTENSIONS: Record<string, string[]> = {
	'image/png': ['png'],
	'image/jpeg': ['jpg', 'jpeg'],
	'image/gif': ['gif'],
	'image/webp': ['webp'],
	'image/avif': ['avif'],
	'image/heic': ['heic', 'heif'],
	'image/bmp': ['bmp'],
	'image/tiff': ['tif', 'tiff'],
	'image/svg+xml': ['svg'],
	'video/mp4': ['mp4', 'm4v'],
	'video/quicktime': ['mov', 'qt'],
	'video/webm': ['webm'],
	'video/x-matroska': ['mkv'],
	'video/x-msvideo': ['avi'],
	'video/ogg': ['ogv', 'ogg'],
	'audio/mp4': ['m4a'],
	'audio/wav': ['wav'],
	'audio/ogg': ['ogg', 'oga'],
	'audio/flac': ['flac'],
	'audio/mpeg': ['mp3'],
	'application/octet-stream': ['bin'],
};

const MIME_TYPE = /^[\w+-]+\/[\w+-][\w.+-]{0,99}$/;

/** The longest file name that common file systems take, in bytes, with room for what a storage adds. */
const MAX_NAME_BYTES = 200;

/**
 * The MIME type of a file: what its first bytes say, else what was stated with it.
 *
 * @param stated a Content-Type header, parameters allowed
 * @param head the first bytes of the file, `SNIFF_BYTES` or more where it has them
 */
export function mediaType(stated: string | undefined, head: Uint8Array): string {
	const plain = stated?.split(';')[0].trim().toLowerCase() ?? '';
	const telling = MIME_TYPE.test(plain) && plain !== 'text/plain';
	if (isSvg(decoded(head))) return 'image/svg+xml';
	return sniff(head) ?? (telling ? plain : 'application/octet-stream');
}

function sniff(head: Uint8Array): string | null {
	const text = String.fromCharCode(...head.subarray(0, SIGNATURE_BYTES));
	const match = SIGNATURES.find(({ bytes, offset = 0 }) => {
		const from = text.slice(offset);
		return typeof bytes === 'string' ? from.startsWith(bytes) : bytes.test(from);
	});
	return match?.mimeType ?? null;
}

/** Whether what was stated is a page or an error document, where a picture or video was due. */
export function isDocument(mimeType: string): boolean {
	return /^(text\/(?!plain)|application\/(json|xml|xhtml\+xml|problem\+json)$)/.test(mimeType);
}

/** The control characters of texts. Every picture and video has others among its first bytes. */
const TEXT_CONTROLS = '\t\n\f\r\x1b';

/**
 * The beginning of a file that is a text, such as a page or a message of a storage. `null` for all that can be a picture
 * or a video: binary files and SVG.
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
	// One by one: a single pattern for all of them takes for ever on some texts.
	for (let before = ''; before !== rest; ) {
		before = rest;
		rest = rest.replace(/^\s*(<\?[^]*?\?>|<!--[^]*?-->)/, '');
	}
	return /^\s*<(!doctype\s+|\w+:)?svg[\s>/]/i.test(rest);
}

const MOST_WORDS = 100;

/**
 * The first words of a text or page, for an error. Markup, control characters and whatever is as long as a key or a
 * signature are left out.
 */
export function firstWords(text: string): string {
	const words = text
		.replace(/<[^>]*>?/g, ' ')
		.replace(/[\w+/=.~-]{33,}/g, '…')
		.replace(/[\p{C}\s]+/gu, ' ')
		.trim();
	return words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS).trim()}…` : words;
}

/**
 * A file name that any storage takes, with the extension that belongs to the bytes.
 *
 * @param wanted any text; path separators, control and reserved characters are replaced
 */
export function safeFileName(wanted: string, mimeType: string): string {
	const cleaned = wanted
		.normalize('NFC')
		.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
		.replace(/[/\\:*?"<>|]/g, '-')
		.replace(/^[.\s]+|[.\s]+$/g, '');
	const extensions = extensionsOf(mimeType);
	const own = extensionIn(cleaned, extensions);
	const stem = (own === '' ? cleaned : cleaned.slice(0, -own.length - 1)) || 'output';
	const extension = extensions.includes(own) ? own : extensions[0];
	return `${truncated(stem, MAX_NAME_BYTES - extension.length - 1)}.${extension}`;
}

/** Those of a type that is not known here are read from its name, where that could be one. */
function extensionsOf(mimeType: string): string[] {
	if (Object.hasOwn(EXTENSIONS, mimeType)) return EXTENSIONS[mimeType];
	return [/^[^/]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(mimeType)?.[1] ?? 'bin'];
}

/** Only what is known as a file type counts as an extension: the end of "v1.5" does not. */
function extensionIn(name: string, ofType: string[]): string {
	const last = /\.([^.]+)$/.exec(name)?.[1].toLowerCase() ?? '';
	return [...ofType, ...Object.values(EXTENSIONS).flat()].includes(last) ? last : '';
}

/** Cut to so many bytes of UTF-8, between characters. */
function truncated(text: string, bytes: number): string {
	const encoder = new TextEncoder();
	let used = 0;
	let kept = '';
	for (const character of text) {
		used += encoder.encode(character).length;
		if (used > bytes) break;
		kept += character;
	}
	return kept;
}
