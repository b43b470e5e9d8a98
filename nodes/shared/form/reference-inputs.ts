import type { INodeProperties } from 'n8n-workflow';

import type { FreshValue } from '../../../client/api/fresh-value';
import { toResult } from '../../../client/async';
import {
	InvalidInputError,
	dataUri,
	inlineSize,
	INPUT_TYPES,
	isTooLargeInline,
	oneOf,
} from './checks';
import { collection, readForm, type Form } from './form';
import { notAsTool } from './fields';
import { asStoredNow, itemFile, knownSize, plainType, unreadable } from './item-file';
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
			{ name: 'Data URI', value: 'data', description: 'Base64 data in this field' },
			{ name: 'URL', value: 'url', description: 'A file that the service downloads' },
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
		description: 'HTTPS URL of the file',
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
	{
		displayName: 'Data URI',
		name: 'data',
		type: 'string',
		default: '',
		placeholder: 'e.g. data:image/png;base64,iVBORw0…',
		description: 'The file as a base64 data URI, at most 4.5 MB when decoded',
		displayOptions: { show: { source: ['data'] } },
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
	'For a file that is not on the web, choose the source Binary Field or Data URI.';

/** Loads the validated inputs of an item. Called when the item's request is due. */
type LoadInputs = () => Promise<WireInput[]>;
type LoadInput = () => Promise<WireInput>;

/**
 * Validates the reference inputs of an item before any request. No file is read from n8n's storage yet, and inline data
 * is not kept in memory.
 *
 * @param form the evaluated form of the item
 * @returns a function that loads the inputs when the request is due
 * @throws InvalidInputError
 */
export async function referenceInputs(
	step: Step,
	itemIndex: number,
	form: Form,
): Promise<LoadInputs> {
	const loaders: LoadInput[] = [];
	for (const [index, entry] of entriesOf(form).entries()) {
		loaders.push(await checkedInput(step, itemIndex, entry, index));
	}
	return async () => {
		const inputs: WireInput[] = [];
		// Sequential, because a large file is in memory twice while it is encoded.
		for (const load of loaders) inputs.push(await load());
		return inputs;
	};
}

function entriesOf(form: Form): Form[] {
	return (collection(form, 'referenceInputs').input ?? []) as Form[];
}

async function checkedInput(
	step: Step,
	itemIndex: number,
	{ source, type, url, binaryPropertyName, data }: Form,
	index: number,
): Promise<LoadInput> {
	const field = `Reference File ${index + 1}`;
	switch (oneOf(`${field}: Source`, source ?? 'url', ['url', 'binary', 'data'] as const)) {
		case 'binary':
			return await binaryInput(step, itemIndex, binaryPropertyName, type, field);
		case 'data':
			return inlineInput(step, itemIndex, index, data, type, field);
		default: {
			const input: WireInput = {
				type: inputType(field, type ?? 'image'),
				source: 'url',
				value: fetchableUrl(`${field}: URL`, url, OTHER_SOURCES),
			};
			return async () => input;
		}
	}
}

/**
 * The data is read again when the request is due. Otherwise the plan of each item would hold megabytes of
 * inline data.
 */
function inlineInput(
	step: Step,
	itemIndex: number,
	index: number,
	data: unknown,
	type: unknown,
	field: string,
): () => Promise<WireInput> {
	const label = `${field}: Data URI`;
	const stated = /^data:(.*?)\//.exec(dataUri(label, data).slice(0, 100))?.[1].toLowerCase();
	const kind = inputType(field, type ?? stated);
	return async () => {
		const entries = entriesOf(readForm(step, itemIndex, [referenceInputsField]));
		return { type: kind, source: 'data', value: dataUri(label, entries[index]?.data) };
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
): Promise<LoadInput> {
	const file = itemFile(step, itemIndex, value, field);
	const mimeType = plainType(file);
	if (!mimeType) {
		throw new InvalidInputError(
			`${field}: the file has no MIME type`,
			'Set the MIME type, such as image/png, in the node that creates the file.',
		);
	}
	const kind = (type ?? null) === null ? detectedType(field, mimeType) : inputType(field, type);
	const byUrl = async (): Promise<WireInput> => ({
		type: kind,
		source: 'url',
		value: await signedFile(step, file, field, SMALLER),
	});
	const size = knownSize(file);
	if (size !== undefined && isTooLargeInline(size)) {
		const input = await byUrl();
		return async () => input;
	}
	if (size !== undefined) inlineSize(field, size);
	return async () => {
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
