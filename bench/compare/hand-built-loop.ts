import type { INodeParameters } from 'n8n-workflow';

import { prompts } from './graph';
import type { Edge, Step } from './graph';

/**
 * Seconds between two status checks in the loop that tutorials and templates build for services like this one: Loop
 * Over Items, and in it HTTP Request, Wait, HTTP Request, If, and back to Wait. Without Loop Over Items, all items at
 * once would exceed the account's limit. Templates wait between 10 s and a minute; 5 s makes the comparison more
 * favorable to them. So does the branch for failed generations: without it, as in many templates, the loop would never
 * end.
 */
const waitSeconds = 5;

const service = {
	authentication: 'predefinedCredentialType',
	nodeCredentialType: 'mediaGenerationApi',
};

/**
 * Returns the nodes of the loop.
 *
 * @param body the body of a creating request, as an expression that evaluates to JSON
 */
export function loopSteps(baseUrl: string, body: string): Step[] {
	const loop = {
		name: 'Loop Over Items',
		type: 'n8n-nodes-base.splitInBatches',
		version: 3,
		parameters: { options: {} },
	};
	return [loop, ...chain(baseUrl, body, {})];
}

/**
 * Returns the same nodes without Loop Over Items: submit all, wait, and collect. To build this, users need to know the
 * account's limit and about how long a video takes. HTTP Request submits videos up to the limit, and pauses before the
 * next ones.
 */
export function collectSteps(baseUrl: string, body: string): Step[] {
	const batch = { batchSize: 10, batchInterval: 25_000 };
	return chain(baseUrl, body, { options: { batching: { batch } } });
}

function chain(baseUrl: string, body: string, creating: INodeParameters): Step[] {
	return [
		request('Create', {
			...service,
			method: 'POST',
			url: `${baseUrl}/v1/videos/generations`,
			sendBody: true,
			specifyBody: 'json',
			jsonBody: body,
			...creating,
		}),
		{
			name: 'Wait',
			type: 'n8n-nodes-base.wait',
			version: 1.1,
			parameters: { amount: waitSeconds, unit: 'seconds' },
		},
		request('Status', { ...service, url: `=${baseUrl}/v1/generations/{{ $json.id }}` }),
		ifStatus('Completed?', 'completed'),
		request('Download', {
			url: '={{ $json.data[0].url }}',
			options: { response: { response: { responseFormat: 'file' } } },
		}),
		ifStatus('Failed?', 'failed'),
		{
			name: 'Give Up',
			type: 'n8n-nodes-base.stopAndError',
			version: 1,
			parameters: { errorMessage: '={{ $json.error.message }}' },
		},
	];
}

const fromCreateOn: Edge[] = [
	['Create', 'Wait'],
	['Wait', 'Status'],
	['Status', 'Completed?'],
	['Completed?', 'Download'],
	['Completed?', 'Failed?', 1],
	['Failed?', 'Give Up'],
	['Failed?', 'Wait', 1],
];

/** The connections between the nodes of the loop. */
export const loopEdges: Edge[] = [
	[prompts, 'Loop Over Items'],
	['Loop Over Items', 'Create', 1],
	...fromCreateOn,
	['Download', 'Loop Over Items'],
];
export const collectEdges: Edge[] = [[prompts, 'Create'], ...fromCreateOn];

function request(name: string, parameters: INodeParameters): Step {
	const credential = parameters.nodeCredentialType ? 'mediaGenerationApi' : undefined;
	const type = 'n8n-nodes-base.httpRequest';
	return { name, type, version: 4.2, parameters: { options: {}, ...parameters }, credential };
}

function ifStatus(name: string, status: string): Step {
	const condition = {
		id: status,
		leftValue: '={{ $json.status }}',
		rightValue: status,
		operator: { type: 'string', operation: 'equals' },
	};
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	const conditions = { options, combinator: 'and', conditions: [condition] };
	const parameters = { conditions, options: {} };
	return { name, type: 'n8n-nodes-base.if', version: 2.2, parameters };
}
