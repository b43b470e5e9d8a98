import { additionalFields } from './additional-fields';
import { idempotencyKey, integer, integerWithin, normalizedText } from './checks';
import type { Field } from './form';
import { urlList } from './urls';

/** Fields that several nodes share. Names and defaults must not change: saved workflows contain them. */

/** The model picker: a searchable list from the live catalog, or an id. */
export function modelField(
	listSearch: 'searchImageModels' | 'searchVideoModels' | 'searchModels',
	example: string,
): Field {
	return {
		displayName: 'Model',
		name: listSearch === 'searchModels' ? 'modelId' : 'model',
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		required: true,
		description: 'The model to use, from the live catalog of the service',
		wire: 'model',
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				placeholder: 'Select a model…',
				typeOptions: { searchListMethod: listSearch, searchable: true },
			},
			{
				displayName: 'By ID',
				name: 'id',
				type: 'string',
				placeholder: `e.g. ${example}`,
			},
		],
	};
}

/** The choice that sends no value: the model decides, and a model without this parameter does not reject the request. */
export const modelDefault = { name: 'Model Default', value: '' };

/** The prompt field of a creating node. */
export function promptField(placeholder: string, description: string): Field {
	return {
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		required: true,
		placeholder,
		description,
		wire: 'prompt',
	};
}

export const MOST_OUTPUTS = 20;

/** The field `numberOfOutputs`. `noun`: plural of what is created, in title case, such as `Images`. */
export function numberOfOutputsField(noun: string): Field {
	return {
		displayName: `Number of ${noun}`,
		name: 'numberOfOutputs',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1,
		check: integerWithin(1, MOST_OUTPUTS),
		description: `How many ${noun.toLowerCase()} to create for each input item (1 to ${MOST_OUTPUTS}), each charged and returned as its own item`,
	};
}

/** For `displayOptions.hide` of fields that do nothing in an agent's tool: a tool returns only JSON, and cannot sleep. */
export const notAsTool = { '@tool': [true] };

/** The field `downloadOutput`. `show`: n8n shows the field only if other fields have these values. */
export function downloadField(show: Record<string, Array<string | boolean>> = {}): Field {
	return {
		displayName: 'Download Output',
		name: 'downloadOutput',
		type: 'boolean',
		default: true,
		description:
			'Whether to download the image or video instead of returning only its URL, which is valid for one hour',
		displayOptions: { show, hide: notAsTool },
	};
}

export const deliveryFields: Field[] = [
	{
		displayName: 'Wait Until Ready',
		name: 'waitForCompletion',
		type: 'boolean',
		default: true,
		description:
			'Whether to wait until the output is ready instead of returning the pending generation at once',
	},
	{
		displayName:
			'The generation is returned while it is still running, so there is no file yet. It has been charged. If it fails, it is refunded. Get its output later with Wait for Completion.',
		name: 'notWaitingNotice',
		type: 'notice',
		default: '',
		displayOptions: { show: { waitForCompletion: [false] } },
	},
	downloadField({ waitForCompletion: [true] }),
];

/** The option for reference URLs (spec 4.1 and 4.2, `input_images`). `check` validates one URL. */
export function inputImagesOption(
	description: string,
	check: (label: string, value: unknown) => string,
): Field {
	return {
		displayName: 'Input Image URLs',
		name: 'inputImages',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/a.png, https://example.com/b.png',
		description,
		check: (label, value) => urlList(`${label}: URL`, value, check),
		wire: 'input_images',
	};
}

export const OUTPUT_FIELD = 'data';

/** The options for the downloaded file: its binary field and its name. */
export const fileOptions: Field[] = [
	{
		displayName: 'Put Output in Field',
		name: 'binaryPropertyName',
		type: 'string',
		default: OUTPUT_FIELD,
		placeholder: 'e.g. data',
		hint: 'The name of the output binary field to put the file in',
		displayOptions: { hide: notAsTool },
	},
	{
		displayName: 'File Name',
		name: 'fileName',
		type: 'string',
		default: '',
		placeholder: 'e.g. lighthouse',
		description:
			'Name of the downloaded file without its extension; if empty, it is made from the prompt, or else the model, and the ID',
		displayOptions: { hide: notAsTool },
	},
];

export const GENERATION_FIELD = 'generation';

/** Output fields that say why an item failed. They are at the top level, even if the generation is in a field of its own. */
export const OF_FAILURES = ['error', 'error_code'];

/** The options for returning the input item with the generation in one of its fields, instead of the generation alone. */
export const includeOptions: Field[] = [
	{
		displayName: 'Include Other Input Fields',
		name: 'includeOtherFields',
		type: 'boolean',
		default: true,
		description:
			'Whether to return the input item with all its fields and files, and add the generation in a field of its own',
		displayOptions: { hide: notAsTool },
	},
	{
		displayName: 'Put Generation in Field',
		name: 'generationField',
		type: 'string',
		default: GENERATION_FIELD,
		placeholder: 'e.g. generation',
		description:
			'With Include Other Input Fields, the output’s ID, status and URL are together in this field, which replaces one of the same name',
		displayOptions: { hide: notAsTool },
	},
];

/**
 * The options of every creating node: what is created, and how it is returned. `within`: where the request body has the
 * negative prompt and the seed, such as `parameters.`; by default, at the top level.
 */
export function creatingOptions(within = ''): Field[] {
	return [
		...includeOptions,
		...fileOptions,
		{
			displayName: 'Additional Body Fields (JSON)',
			name: 'additionalFields',
			type: 'json',
			default: '{}',
			placeholder: 'e.g. {"style": "watercolor"}',
			description:
				'Settings of the model that this form does not have, with the names in its documentation; what a model does not know is usually ignored, such as the aspect ratio of a video',
			check: additionalFields,
		},
		{
			displayName: 'Idempotency Key',
			name: 'idempotencyKey',
			type: 'string',
			default: '',
			placeholder: 'e.g. {{ $json.sku }}, as an expression',
			description:
				'A unique value for each item, such as its ID: the item is charged once, and later runs and retries reuse its generation',
			hint: 'A changed prompt returns the old output, unless New Output If the Request Changes is on',
			check: idempotencyKey,
		},
		{
			displayName: 'New Output If the Request Changes',
			name: 'newOnChange',
			type: 'boolean',
			default: true,
			description:
				'Whether an item whose prompt, model or other settings have changed is created and charged again, instead of reusing its old output; add it before the first run, because adding it later charges every item once more',
		},
		{
			displayName: 'Share Keys Under a Name',
			name: 'keyScope',
			type: 'string',
			default: '',
			placeholder: 'e.g. product photos',
			description:
				'With the same name here, nodes in other or copied workflows reuse each other’s outputs; if empty, the keys count for this node only',
			check: normalizedText,
		},
		{
			displayName: 'Negative Prompt',
			name: 'negativePrompt',
			type: 'string',
			default: '',
			placeholder: 'e.g. text, watermark',
			description: 'What the output should not contain, if the model supports it',
			wire: `${within}negative_prompt`,
		},
		{
			displayName: 'Seed',
			name: 'seed',
			type: 'number',
			default: 0,
			description:
				'A whole number that makes the output repeatable, if the model supports it; some models silently ignore it',
			check: integer,
			wire: `${within}seed`,
		},
	];
}

/** A collection of options, sorted by display name, as n8n's linter requires. */
export function collectionField(name: string, one: string, options: Field[]): Field {
	return {
		displayName: `${one}s`,
		name,
		type: 'collection',
		placeholder: `Add ${one}`,
		default: {},
		options: [...options].sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}
