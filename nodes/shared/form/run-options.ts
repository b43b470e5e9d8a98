import type { INodeProperties } from 'n8n-workflow';

import { byDisplayName, notAsTool } from './fields';

/** The fields of the collection `runOptions`. Names and defaults must not change: saved workflows contain them. */

const uncertainChargeOption: INodeProperties = {
	displayName: 'On Uncertain Charge',
	name: 'onUncertainCharge',
	type: 'options',
	options: [
		{
			name: 'Error',
			value: 'error',
			description: 'The item fails and is not sent again, so nothing is charged twice',
		},
		{
			name: 'Resubmit',
			value: 'resubmit',
			description:
				'Send it again, up to three times in each try of the step. Each request may be charged.',
		},
	],
	default: 'error',
	description:
		'What to do if the response to a creating request was lost, so that it is not known whether credits were charged',
};

/**
 * The run options of every node that waits.
 *
 * @param timeout default in seconds
 */
export function waitingRunOptions(timeout: number): INodeProperties[] {
	return [
		{
			displayName: 'Max Concurrent',
			name: 'maxConcurrent',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 10,
			description:
				'Maximum generations running at the same time; if the account allows fewer, the node waits for free slots',
		},
		{
			displayName: 'On Timeout',
			name: 'onTimeout',
			type: 'options',
			options: [
				{
					name: 'Error',
					value: 'error',
					description: 'The item fails, and its error names the generation, which was charged',
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
			displayName: 'Readiness',
			name: 'readiness',
			type: 'options',
			options: [
				{
					name: 'Automatic',
					value: 'auto',
					description:
						'Requests the first byte of the output URL, and checks the status at 4 s, at 10 s and then less often',
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
					description: 'Checks only the status, for a storage that cannot be probed',
				},
			],
			default: 'auto',
			description: 'How to detect that the output is ready',
		},
		{
			displayName: 'Timeout (Seconds)',
			name: 'timeout',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: timeout,
			description: 'Maximum time to wait for one generation, and before it for a free slot',
		},
	];
}

const whileWaitingOption: INodeProperties = {
	displayName: 'While Waiting',
	name: 'whileWaiting',
	type: 'options',
	options: [
		{
			name: 'Poll',
			value: 'poll',
			description: 'Keep running, and check the status again and again',
		},
		{
			name: 'Suspend',
			value: 'suspend',
			description:
				'For batches of more than ten minutes: sleep in n8n’s database, hold no worker, and continue after a crash of n8n. Needs an Idempotency Key on every item, a saved workflow, and n8n 2.41 or later.',
		},
	],
	default: 'poll',
	description: 'What the step does while its generations run',
	displayOptions: { hide: notAsTool },
};

/** Set in the helper workflows of a sleeping batch: what this node does there. Empty in the workflows of users. */
export const batchRoleField: INodeProperties = {
	displayName: 'Batch Role',
	name: 'batchRole',
	type: 'hidden',
	default: '',
};

/** The maximum of `retriesOnFailure`. */
export const MOST_RETRIES = 5;

const retriesOption: INodeProperties = {
	displayName: 'Retries of Failed Generations',
	name: 'retriesOnFailure',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: MOST_RETRIES, numberPrecision: 0 },
	default: 0,
	description: `How many times to create a failed and refunded generation again (0 to ${MOST_RETRIES}), if the step waits for completion`,
};

/** Choices that a method of the node loads. They have names and IDs, which the descriptions say. */
function loadedBy(loadOptionsMethod: string): INodeProperties['typeOptions'] {
	return { loadOptionsMethod };
}

const fallbackModelsOption: INodeProperties = {
	displayName: 'Fallback Models',
	name: 'fallbackModels',
	type: 'multiOptions',
	typeOptions: loadedBy('getFallbackModels'),
	default: [],
	description:
		'Models to try in this order if the chosen one fails, as long as it is certain that nothing was charged',
};

const limitOption: INodeProperties = {
	displayName: 'Limit New Generations',
	name: 'maxNewGenerations',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 0,
	placeholder: 'e.g. 100',
	description:
		'Maximum generations that the step creates, without reused ones; the other items fail at no charge',
};

const minimumBalanceOption: INodeProperties = {
	displayName: 'Stop Below Balance',
	name: 'minimumBalance',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	placeholder: 'e.g. 100',
	description: 'Create nothing more once the account has fewer credits than this',
};

/**
 * The run options of every creating node: how a step runs.
 *
 * @param timeout default in seconds
 */
export function creatingRunOptions(timeout: number): INodeProperties[] {
	return [
		uncertainChargeOption,
		retriesOption,
		fallbackModelsOption,
		limitOption,
		minimumBalanceOption,
		whileWaitingOption,
		...waitingRunOptions(timeout),
	];
}

/** The collection `runOptions`, sorted by display name. */
export function runOptionsField(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Run Options',
		name: 'runOptions',
		type: 'collection',
		placeholder: 'Add Run Option',
		default: {},
		options: byDisplayName(options),
	};
}
