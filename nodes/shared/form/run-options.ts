import { integerWithin, positive, textList } from './checks';
import { notAsTool } from './fields';
import type { Field } from './form';

/** The fields of the collection `runOptions`. Names and defaults must not change: saved workflows contain them. */

/**
 * The run options of every node that waits. `timeout`: default in seconds. `creates`: false if the node only watches
 * generations. The descriptions of the options then mention neither slots nor charges.
 */
export function waitingRunOptions(timeout: number, creates = false): Field[] {
	return [
		{
			displayName: 'Max Concurrent',
			name: 'maxConcurrent',
			type: 'number',
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: 10,
			description: creates
				? 'Maximum number of generations running at the same time; if the account allows fewer, the node waits for free slots'
				: 'Maximum number of generations to watch at the same time',
		},
		{
			displayName: 'On Timeout',
			name: 'onTimeout',
			type: 'options',
			options: [
				{
					name: 'Error',
					value: 'error',
					description: `Fail the item, with the generation${creates ? ', which was charged,' : ''} in its error`,
				},
				{
					name: 'Continue',
					value: 'continue',
					description: 'Return the generation as it is, with timed_out set to true',
				},
			],
			default: 'error',
			description: 'What to do if a generation is not ready in time',
		},
		{
			displayName: 'Poll Interval (Seconds)',
			name: 'pollInterval',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 3,
			description: 'Minimum time between two scheduled status checks of a generation',
		},
		{
			displayName: 'How to Detect the End',
			name: 'readiness',
			type: 'options',
			options: [
				{
					name: 'Automatic',
					value: 'auto',
					description: 'Recommended. Finds finished outputs quickly, with few requests.',
				},
				{
					name: 'Output URL',
					value: 'outputUrl',
					description:
						'Requests the first byte of the output URL, and checks the status only occasionally',
				},
				{
					name: 'Status',
					value: 'status',
					description:
						'Checks only the status. Use it if the storage allows no requests before the file is ready.',
				},
			],
			default: 'auto',
			description:
				'How the node notices that an image or video is ready; Automatic is right unless outputs come late',
		},
		{
			displayName: 'Timeout (Seconds)',
			name: 'timeout',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: timeout,
			description: creates
				? 'Maximum time to wait for a free slot, and then for each generation to finish'
				: 'Maximum time to wait, counted from the start of the step',
			check: positive,
		},
	];
}

/** Tells the user what appears in n8n while a batch sleeps. */
export const suspendNotice: Field = {
	displayName:
		'While this execution sleeps, helper workflows check and create its generations. They appear in the executions list under the name of this workflow, and end by themselves. To stop the batch, stop its oldest execution. Sleep During Long Batches is read from the first item.',
	name: 'suspendNotice',
	type: 'notice',
	default: '',
	displayOptions: { show: { '/runOptions.whileWaiting': ['suspend'] }, hide: notAsTool },
};

/** The role (`Role`) of a node in a helper workflow: its part of the work for a step that sleeps. Hidden from users. */
export const batchRoleField: Field = {
	displayName: 'Batch Role',
	name: 'batchRole',
	type: 'hidden',
	default: '',
};

const MOST_RETRIES = 5;

/** Not within the field, because n8n's linter would then demand “Names or IDs” in the field's name. */
const LOADED_MODELS = { loadOptionsMethod: 'getFallbackModels' };

/** The run options of every creating node: how a step runs. `timeout`: default in seconds. */
export function creatingRunOptions(timeout: number): Field[] {
	return [
		{
			displayName: 'If the Response Is Lost',
			name: 'onUncertainCharge',
			type: 'options',
			options: [
				{
					name: 'Fail the Item',
					value: 'error',
					description: 'Do not send it again, so that nothing is charged twice',
				},
				{
					name: 'Send Again',
					value: 'resubmit',
					description: 'Up to three times in each try of the step. Each request may be charged.',
				},
			],
			default: 'error',
			description:
				'What to do if the connection breaks after an item was sent, so that it is unknown whether it was charged',
		},
		{
			displayName: 'Retries of Failed Generations',
			name: 'retriesOnFailure',
			check: integerWithin(0, MOST_RETRIES),
			type: 'number',
			typeOptions: { minValue: 0, numberPrecision: 0 },
			default: 0,
			description: `How many times to create a failed and refunded generation again (0 to ${MOST_RETRIES}), if the step waits for completion`,
		},
		{
			displayName: 'Fallback Models',
			name: 'fallbackModels',
			check: textList,
			type: 'multiOptions',
			typeOptions: LOADED_MODELS,
			default: [],
			description:
				'Models to try in this order if the chosen one fails and nothing stays charged (a failed generation is refunded)',
		},
		{
			displayName: 'Limit New Generations',
			name: 'maxNewGenerations',
			limits: true,
			type: 'number',
			typeOptions: { minValue: 0, numberPrecision: 0 },
			default: 10,
			description:
				'Maximum number of new generations in each run of this step, not counting reused ones; the remaining items are not sent and cost nothing, and 0 creates none',
		},
		{
			displayName: 'Spend at Most (Credits)',
			name: 'maxCredits',
			limits: true,
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 100,
			description:
				'Maximum number of credits for each run of this step, give or take one generation, as no price is known before the first; the remaining items are not sent and cost nothing',
		},
		{
			displayName: 'Stop Below Balance',
			name: 'minimumBalance',
			limits: true,
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			placeholder: 'e.g. 100',
			description:
				'Create nothing more if the account could then have fewer credits than this; the remaining items are not sent and cost nothing',
		},
		{
			displayName: 'Sleep During Long Batches',
			name: 'whileWaiting',
			type: 'options',
			options: [
				{
					name: 'No (Poll)',
					value: 'poll',
					description: 'Keep running, and check the status again and again',
				},
				{
					name: 'Yes (Suspend)',
					value: 'suspend',
					description:
						'For batches whose generations take minutes each. Between checks, the execution sleeps in n8n’s database and holds no worker. It usually continues after a restart or a crash. Needs an Idempotency Key on every item, a saved workflow, and n8n 2.41 or later.',
				},
			],
			default: 'poll',
			description:
				'Whether n8n is kept busy while the images or videos are made, or the execution sleeps until they are ready',
			displayOptions: { hide: notAsTool },
		},
		...waitingRunOptions(timeout, true),
	];
}
