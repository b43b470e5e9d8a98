/** A file type: its extensions, the usual one first, and its first bytes (latin1) at `offset`. */
type FileType = [mimeType: string, extensions: string[], bytes?: RegExp, offset?: number];

const TEXT_CONTROLS = '\t\n\f\r\x1b';

/** Number of first bytes that are read to detect a type: in an SVG, long comments may precede the tag. */
export const SNIFF_BYTES = 1024;

const SIGNATURE_BYTES = 64;

/** The first row whose bytes match a file determines its type. */
const FILE_TYPES: FileType[] = [
	['image/png', ['png'], /^\x89PNG\r\n/],
	['image/jpeg', ['jpg', 'jpeg'], /^\xff\xd8\xff/],
	['image/gif', ['gif'], /^GIF8/],
	['image/webp', ['webp'], /^RIFF[^]{4}WEBP/],
	// AVIF comes before HEIC: both may start with a generic brand (mif1, msf1), and the HEIC row accepts every such file.
	['image/avif', ['avif'], /^ftyp(avi[fs]|m[is]f1[^]*avi[fs])/, 4],
	['image/heic', ['heic', 'heif'], /^ftyp(he[iv][cmsx]|m[is]f1)/, 4],
	['video/quicktime', ['mov', 'qt'], /^ftypqt {2}/, 4],
	['video/mp4', ['mp4', 'm4v'], /^ftyp/, 4],
	['video/webm', ['webm'], /^.E\xdf\xa3[^]*webm/s],
	['video/x-matroska', ['mkv'], /^.E\xdf\xa3[^]*matroska/s],
	['image/svg+xml', ['svg']],
	['application/octet-stream', ['bin']],
];

const MIME_TYPE = /^(?!text\/|application\/(json|xml)$)[\w+-]+\/[\w+-][\w.+-]{0,99}$/;

/** Maximum length of a file name in bytes. Common file systems allow more, but a storage may add a suffix. */
const MAX_NAME_BYTES = 200;

/**
 * Returns the MIME type of a file, from its first bytes (`head`) or else from its Content-Type (`stated`). For a text file,
 * such as a page or an error message of a storage, returns the start of the text instead. SVG counts as an image.
 */
export function contentOf(
	stated: string | undefined,
	head: Uint8Array,
): { mimeType: string } | { text: string } {
	const text = new TextDecoder().decode(head.subarray(0, SNIFF_BYTES));
	// Every image and video except SVG has control characters among its first bytes.
	const isText = ![...text].some((each) => each < ' ' && !TEXT_CONTROLS.includes(each));
	const isSvg = isText && /<svg[\s>/]|<!doctype svg/i.test(text) && !/<html/i.test(text);
	if (isText && !isSvg) return { text };
	const start = String.fromCharCode(...head.subarray(0, SIGNATURE_BYTES));
	const known = FILE_TYPES.find(([, , bytes, offset = 0]) => bytes?.test(start.slice(offset)));
	if (known) return { mimeType: known[0] };
	if (isSvg) return { mimeType: 'image/svg+xml' };
	const plain = stated?.split(';')[0].trim().toLowerCase() ?? '';
	return { mimeType: MIME_TYPE.test(plain) ? plain : 'application/octet-stream' };
}

/** Returns `wanted` as a file name that every storage accepts, with an extension of its MIME type. */
export function safeFileName(wanted: string, mimeType: string): string {
	const cleaned = wanted
		.normalize('NFC')
		.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
		.replace(/[/\\:*?"<>|]/g, '-')
		.replace(/^[.\s]+|[.\s]+$/g, '')
		// Windows reserves these names, even with an extension.
		.replace(/^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, '$1_');
	const known = FILE_TYPES.find(([type]) => type === mimeType)?.[1];
	const ofType = known ?? [/^[^/]+\/(?:x-)?([a-z0-9]{1,8})$/.exec(mimeType)?.[1] ?? 'bin'];
	const last = /\.([^.]+)$/.exec(cleaned)?.[1].toLowerCase() ?? '';
	// Only a known extension is replaced: in "v1.5", the end belongs to the name.
	const isKnown = [...ofType, ...FILE_TYPES.flatMap(([, all]) => all)].includes(last);
	const stem = (isKnown ? cleaned.slice(0, -last.length - 1) : cleaned) || 'output';
	const extension = ofType.includes(last) ? last : ofType[0];
	// `encodeInto` stops before the first character that does not fit, so no character is ever cut in two.
	const room = new Uint8Array(MAX_NAME_BYTES - extension.length - 1);
	const { read } = new TextEncoder().encodeInto(stem, room);
	return `${stem.slice(0, read)}.${extension}`;
}
