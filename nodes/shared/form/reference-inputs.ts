import type { INodeProperties } from 'n8n-workflow';

import type { FreshValue } from '../../../client/api/fresh-value';
import { toResult } from '../../../client/async';
import { digest } from '../../../client/orders/table';
import {
	InvalidInputError,
	dataUri,
	inlineSize,
	INPUT_TYPES,
	isTooLargeInline,
	oneOf,
} from './checks';
import { collection, type Form } from './form';
import { notAsTool } from './fields';
import { asStoredNow, fileIdentity, itemFile, knownSize, plainType, unreadable } from './item-file';
import { signedFile } from './signed-file';
import { fetchableUrl } from './urls';
import type { Step } from '../step';

/** Not sorted by name: this is the order for filling in the form. */
const inputFields: INodeProperties[] = [
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

/** The field for reference images and files. */
export const referenceInputsField: INodeProperties = {
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

/** A reference input in a request body (spec 4.1, `inputs`). */
interface WireInput {
	type: string;
	source: 'url' | 'data';
	value: string | FreshValue;
}

const OTHER_SOURCES =
	'For a file that is not on the web, choose the source Binary Field, or enter a data URI.';

/** A checked reference input. */
interface Input {
	/** Identifies it in the digest of the request. */
	identity: object;
	/** Reads it when the request is due. */
	load: () => Promise<WireInput>;
}

/** The checked reference inputs of an item. */
export interface Inputs {
	identity: object[];
	load: () => Promise<WireInput[]>;
}

/**
 * Validates the reference inputs of an item before any request. No file is read from n8n's storage yet, and inline data
 * is not kept in memory.
 *
 * @param form the evaluated form of the item
 * @throws InvalidInputError
 */
export async function referenceInputs(step: Step, itemIndex: number, form: Form): Promise<Inputs> {
	const entries = (collection(form, 'referenceInputs').input ?? []) as Form[];
	const inputs: Input[] = [];
	for (const [index, entry] of entries.entries()) {
		inputs.push(await checkedInput(step, itemIndex, entry, `Reference File ${index + 1}`));
	}
	return {
		identity: inputs.map(({ identity }) => identity),
		load: async () => {
			const loaded: WireInput[] = [];
			// Sequential, because a large file is in memory twice while it is encoded.
			for (const { load } of inputs) loaded.push(await load());
			return loaded;
		},
	};
}

async function checkedInput(
	step: Step,
	itemIndex: number,
	{ source, type, url, binaryPropertyName }: Form,
	field: string,
): Promise<Input> {
	if (oneOf(`${field}: Source`, source ?? 'url', ['url', 'binary'] as const) === 'binary') {
		return await binaryInput(step, itemIndex, binaryPropertyName, type, field);
	}
	const label = `${field}: URL`;
	return typeof url === 'string' && /^\s*data:/i.test(url)
		? inlineInput(label, url, type, field)
		: urlInput(fetchableUrl(label, url, OTHER_SOURCES), type, field);
}

function urlInput(value: string, type: unknown, field: string): Input {
	const input = { type: inputType(field, type ?? 'image'), source: 'url' as const, value };
	return { identity: input, load: async () => await Promise.resolve(input) };
}

/** A data URI. Its text is part of the item, and written as it is sent only when the request is due. */
function inlineInput(label: string, url: string, type: unknown, field: string): Input {
	const uri = dataUri(label, url);
	const [, stated] = /^data:(.*?)\//.exec(uri.slice(0, 100)) ?? [];
	const kind = inputType(field, type ?? stated.toLowerCase());
	return {
		identity: { type: kind, source: 'data', value: digest(uri) },
		load: async () =>
			await Promise.resolve({ type: kind, source: 'data', value: dataUri(label, url) }),
	};
}

const SMALLER = 'Or use a file of at most 4.5 MB, which needs no URL.';

/** The file as inline data. A larger one is fetched by the service from a signed URL. */
async function binaryInput(
	step: Step,
	itemIndex: number,
	value: unknown,
	type: unknown,
	field: string,
): Promise<Input> {
	const file = itemFile(step, itemIndex, value, field);
	const mimeType = plainType(file);
	if (!mimeType) {
		throw new InvalidInputError(
			`${field}: the file has no MIME type`,
			'Set the MIME type, such as image/png, in the node that creates the file.',
		);
	}
	const kind = (type ?? null) === null ? detectedType(field, mimeType) : inputType(field, type);
	const identity = { type: kind, source: 'binary', value: fileIdentity(step, file) };
	const byUrl = async (): Promise<WireInput> => ({
		type: kind,
		source: 'url',
		value: await signedFile(step, file, field, SMALLER),
	});
	const size = knownSize(file);
	if (size !== undefined && isTooLargeInline(size)) {
		const input = await byUrl();
		return { identity, load: async () => await Promise.resolve(input) };
	}
	if (size !== undefined) inlineSize(field, size);
	const load = async (): Promise<WireInput> => {
		const read = await toResult(
			async () =>
				await step.n8n.helpers.getBinaryDataBuffer(itemIndex, await asStoredNow(step, file)),
		);
		if (!read.ok) throw unreadable(field, read.error);
		const bytes = read.value;
		if (isTooLargeInline(bytes.length)) return await byUrl();
		inlineSize(field, bytes.length);
		const data = `data:${mimeType};base64,${bytes.toString('base64')}`;
		return { type: kind, source: 'data', value: data };
	};
	return { identity, load };
}

function detectedType(field: string, mimeType: string): string {
	const [kind] = mimeType.split('/');
	if (INPUT_TYPES.some((known) => known === kind)) return kind;
	throw new InvalidInputError(
		`${field}: the kind of file could not be detected from its MIME type ${mimeType}`,
		'Set Type to Image, Video or Audio.',
	);
}

function inputType(field: string, type: unknown): string {
	return oneOf(`${field}: Type`, type, INPUT_TYPES);
}
