import { generationId } from '../shared/form/checks';
import { toolDescriptionField } from '../shared/form/description';
import {
	downloadField,
	fileOptions,
	includeOptions,
	notAsTool,
	collectionField,
} from '../shared/form/fields';
import type { Field } from '../shared/form/form';
import { batchRoleField, waitingRunOptions } from '../shared/form/run-options';

export const AS_TOOL =
	'Get a generation that was already created, by its ID: its status and, once it is ready, the URL of its output, which is valid for one hour. At no charge. If timed_out is true, it is still running: call this again.';

/** Default timeout in seconds. */
export const WAIT_TIMEOUT = 1800;

const suspendNotice: Field = {
	displayName:
		'While this execution sleeps, helper workflows check the generations. They appear as executions of their own and end by themselves. To end the wait, stop this execution. Mode is read from the first item.',
	name: 'suspendNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { mode: ['suspend'] } },
};

const generationIdField: Field = {
	displayName: 'Generation ID',
	name: 'generationId',
	type: 'string',
	default: '',
	placeholder: 'e.g. 7f9c24e8-3b1a-4f7d-9a51-0c6f2a9d8e11',
	description:
		'The ID that Image Generation or Video Generation returned; if empty, it is taken from the input item',
	check: generationId,
};

/** The ID field of a tool. Its default, in the form that n8n's editor writes, makes the agent fill in the value. */
const idOfToolField: Field = {
	...generationIdField,
	default:
		"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Generation_ID', `The ID of the generation`, 'string') }}",
	displayOptions: { show: { '@tool': [true] } },
};

/** The node's parameters, in the order of the form. `waitForm` adds a second `generationId` field, for tools. */
export const waitFields: Field[] = [
	toolDescriptionField(AS_TOOL),
	generationIdField,
	{
		displayName: 'Mode',
		name: 'mode',
		type: 'options',
		options: [
			{
				name: 'Poll',
				value: 'poll',
				description: 'Check the status in this step until the generation ends',
			},
			{
				name: 'Suspend',
				value: 'suspend',
				description:
					'For waits of minutes or more. Between checks, the execution sleeps in n8n’s database and holds no worker.',
				displayOptions: { hide: notAsTool },
			},
			{
				name: 'Check Once',
				value: 'check',
				description:
					'Check the status once, and return the generation as it is. There is a file only if it is completed.',
			},
		],
		default: 'poll',
		description: 'How to wait for the generation',
	},
	suspendNotice,
	downloadField(),
	{
		...collectionField('options', 'Option', [...fileOptions, ...includeOptions]),
		// Each of these options is hidden in a tool, so the collection would be empty there.
		displayOptions: { hide: notAsTool },
	},
	collectionField('runOptions', 'Run Option', waitingRunOptions(WAIT_TIMEOUT)),
	batchRoleField,
];

/** The form. It has `generationId` twice: `generationIdField` is hidden in tools, and `idOfToolField` is only for tools. */
export const waitForm: Field[] = waitFields.flatMap((field) =>
	field === generationIdField
		? [{ ...field, displayOptions: { hide: notAsTool } }, idOfToolField]
		: [field],
);
