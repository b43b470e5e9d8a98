import { toResult } from '../../../client/async';
import { digest } from '../../../client/orders/table';
import { InvalidInputError, dataUri, inlineSize, MAX_INLINE_BYTES } from './checks';
import { notAsTool } from './fields';
import type { Field, Values } from './form';
import { asStoredNow, fileIdentity, itemFile, knownSize, plainType, unreadable } from './item-file';
import { signedFile } from './signed-file';
import { fetchableUrl } from './urls';
import type { Step } from '../step';

/** In the order in which a user fills them in, and not sorted by name. */
const inputFields: Field[] = [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{
				name: 'Binary Field',
				value: 'binary',
				description: 'A file of the input item',
				displayOptions: { hide: notAsTool },
			},
			{
				name: 'URL',
				value: 'url',
				description: 'A file that the service downloads, or a data URI',
			},
		],
		default: 'url',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: [
			{ name: 'Audio', value: 'audio' },
			{
				name: 'Automatic',
				value: '',
				description: 'Detected from the file type. A URL is treated as an image.',
			},
			{ name: 'Image', value: 'image' },
			{ name: 'Video', value: 'video' },
		],
		default: '',
		description: 'The kind of file',
	},
	{
		displayName: 'URL',
		name: 'url',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/sketch.png',
		description: 'HTTPS URL of the file, or the file itself as a base64 data URI of at most 4.5 MB',
		displayOptions: { show: { source: ['url'] } },
	},
	{
		displayName: 'Input Binary Field',
		name: 'binaryPropertyName',
		type: 'string',
		typeOptions: { binaryDataProperty: true },
		default: 'data',
		placeholder: 'e.g. data',
		hint: 'The name of the input binary field with the file; above 4.5 MB, the service fetches it from n8n, which then needs a public https address',
		displayOptions: { show: { source: ['binary'] } },
	},
];

export const referenceInputsField: Field = {
	displayName: 'Reference Images & Files',
	name: 'referenceInputs',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Image or File',
	default: {},
	description: 'Images, videos or audio files for the model to work from, if it supports them',
	options: [
		{
			displayName: 'Reference File',
			name: 'input',
			values: inputFields,
		},
	],
};

/** Checked reference inputs (spec 4.1, `inputs`). The request's digest contains `identity`; `load` returns the inputs. */
export interface Inputs {
	identity: object[];
	/** Reads the files. Called when the request is about to be sent. */
	load: () => Promise<object[]>;
}

/**
 * Validates the reference inputs of an item before any request. `load` reads the files later. Only a large file may be put
 * in n8n's storage now: the service fetches it by a signed URL (`signedFile`). Throws InvalidInputError.
 */
export async function referenceInputs(
	step: Step,
	itemIndex: number,
	entries: Values[] | null,
): Promise<Inputs> {
	const inputs: Array<{ identity: object; load: () => Promise<object> }> = [];
	for (const [index, entry] of (entries ?? []).entries()) {
		const label = `Reference File ${index + 1}`;
		inputs.push(
			entry.source === 'binary'
				? await fileInput(step, itemIndex, entry, label)
				: urlInput(entry, label),
		);
	}
	return {
		identity: inputs.map(({ identity }) => identity),
		load: async () => {
			const loaded: object[] = [];
			// Sequential, because a large file is in memory twice while it is encoded.
			for (const { load } of inputs) loaded.push(await load());
			return loaded;
		},
	};
}

const OTHER_SOURCES =
	'For a file that is not on the web, choose the source Binary Field, or enter a data URI.';

/** Reads an entry with the source URL: an address, or the file itself as a data URI. */
function urlInput({ type, url }: Values, label: string) {
	const field = `${label}: URL`;
	const isData = /^\s*data:/i.test(String(url));
	const value = isData ? dataUri(field, url) : fetchableUrl(field, url, OTHER_SOURCES);
	const stated = isData ? value.slice('data:'.length, 100).split('/')[0] : 'image';
	const input = { type: kindOf(label, type, stated), source: isData ? 'data' : 'url', value };
	const identity = isData ? { ...input, value: digest(value) } : input;
	return { identity, load: async () => await Promise.resolve(input) };
}

const SMALLER = 'Or use a file of at most 4.5 MB, which needs no URL.';

/** Sends a file of at most 4.5 MB as inline data. The service fetches a larger file from a signed URL. */
async function fileInput(
	step: Step,
	itemIndex: number,
	{ type, binaryPropertyName }: Values,
	label: string,
) {
	const file = itemFile(step, itemIndex, binaryPropertyName, label);
	const mimeType = plainType(file) || 'application/octet-stream';
	const kind = kindOf(label, type, mimeType.split('/')[0]);
	const identity = { type: kind, source: 'binary', value: fileIdentity(step, file) };
	const byUrl = async (): Promise<object> => ({
		type: kind,
		source: 'url',
		value: await signedFile(step, file, label, SMALLER),
	});
	const size = knownSize(file);
	if (size !== undefined && size > MAX_INLINE_BYTES) {
		const input = await byUrl();
		return { identity, load: async () => await Promise.resolve(input) };
	}
	if (size !== undefined) inlineSize(label, size);
	const load = async (): Promise<object> => {
		const read = await toResult(
			async () =>
				await step.n8n.helpers.getBinaryDataBuffer(itemIndex, await asStoredNow(step, file)),
		);
		if (!read.ok) throw unreadable(label, read.error);
		const bytes = read.value;
		if (bytes.length > MAX_INLINE_BYTES) return await byUrl();
		inlineSize(label, bytes.length);
		const data = `data:${mimeType};base64,${bytes.toString('base64')}`;
		return { type: kind, source: 'data', value: data };
	};
	return { identity, load };
}

/** Returns the kind that the user has chosen, or else `detected`. Throws unless that is `image`, `video` or `audio`. */
function kindOf(label: string, chosen: unknown, detected: string): string {
	const kind = String(chosen ?? detected).toLowerCase();
	if (['image', 'video', 'audio'].includes(kind)) return kind;
	throw new InvalidInputError(
		`${label}: the kind of file could not be detected from its MIME type ${detected}`,
		'Set Type to Image, Video or Audio.',
	);
}
