import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import {
	dataUri,
	fetchableUrl,
	inlineSize,
	INPUT_TYPES,
	oneOf,
	requiredText,
} from '../../client/input/checks';
import { InvalidInputError } from '../../client/wire/errors';

/** One entry of the `referenceInputs` parameter. */
interface InputParameter {
	source?: string;
	type?: string;
	url?: string;
	binaryPropertyName?: string;
	data?: string;
}

/** A reference input as the service takes it (spec 4.1, `inputs`). */
export interface WireInput {
	type: string;
	source: 'url' | 'data';
	value: string;
}

/** Checked, but not read: what an item's inputs are, ready to be loaded when it is the item's turn. */
export type LoadInputs = () => Promise<WireInput[]>;

/**
 * Checks the reference inputs of an item before anything is sent, without reading files whose size is known.
 *
 * @throws InvalidInputError
 */
export function referenceInputs(context: IExecuteFunctions, itemIndex: number): LoadInputs {
	const { input = [] } = context.getNodeParameter('referenceInputs', itemIndex, {}) as {
		input?: InputParameter[];
	};
	const loaders = input.map((entry, index) =>
		checkedInput(context, itemIndex, entry, `Reference Input ${index + 1}`),
	);
	return async () => {
		const inputs: WireInput[] = [];
		// One after the other: a large file is in memory twice while it is encoded.
		for (const load of loaders) inputs.push(await load());
		return inputs;
	};
}

function checkedInput(
	context: IExecuteFunctions,
	itemIndex: number,
	{ source, type, url, binaryPropertyName, data }: InputParameter,
	field: string,
): () => Promise<WireInput> {
	switch (source || 'url') {
		case 'binary':
			return binaryInput(context, itemIndex, binaryPropertyName, type, field);
		case 'data': {
			const value = dataUri(`${field}: Data`, data);
			const stated = value.slice('data:'.length, value.indexOf('/'));
			const input: WireInput = { type: inputType(field, type || stated), source: 'data', value };
			return async () => input;
		}
		default: {
			const input: WireInput = {
				type: inputType(field, type || 'image'),
				source: 'url',
				value: fetchableUrl(`${field}: URL`, url),
			};
			return async () => input;
		}
	}
}

function binaryInput(
	context: IExecuteFunctions,
	itemIndex: number,
	binaryPropertyName: string | undefined,
	type: string | undefined,
	field: string,
): () => Promise<WireInput> {
	const property = requiredText(`${field}: Input Binary Field`, binaryPropertyName);
	const binary = context.getInputData()[itemIndex].binary?.[property];
	if (!binary) {
		throw new InvalidInputError(
			`${field}: the item has no binary field "${property}"`,
			'Check the name of the field, and that the step before hands on its file.',
		);
	}
	const size = knownSize(binary);
	if (size !== undefined) inlineSize(field, size);
	const inputKind = inputType(field, type || binary.mimeType.split('/')[0]);
	return async () => {
		const bytes = await context.helpers.getBinaryDataBuffer(itemIndex, property);
		inlineSize(field, bytes.length);
		const value = `data:${binary.mimeType};base64,${bytes.toString('base64')}`;
		return { type: inputKind, source: 'data', value };
	};
}

/** A file's size without reading it: as stated with it, or measured where the item itself holds the file. */
function knownSize({ bytes, id, data }: IBinaryData): number | undefined {
	return bytes ?? (id ? undefined : Buffer.byteLength(data, 'base64'));
}

function inputType(field: string, type: string): string {
	return oneOf(`${field}: Type`, type, INPUT_TYPES);
}
