import type { INodeParameters } from 'n8n-workflow';

import type { WorkflowFile } from '../../tools/n8n/rest';

/** A node of a workflow, with those fields that differ between the compared workflows. */
interface Step {
	name: string;
	type: string;
	version: number;
	parameters: INodeParameters;
	/** The type of its credential. */
	credential?: string;
}

/** A connection from a node to another one, by the index of the output (0 by default). */
type Edge = [from: string, to: string, output?: number];

/** A way to make many videos in n8n. */
export interface Approach {
	/** Used in the names of its accounts and workflows. */
	key: string;
	/** The name shown in the documentation. */
	name: string;
	credential: 'mediaGenerationApi' | 'openAiApi';
	/** Returns the nodes after the items with the prompts. */
	steps(baseUrl: string): Step[];
	edges: Edge[];
}

/** The type of the node in `extension/`. n8n adds the prefix for custom extensions. */
const SEQUENTIAL = 'CUSTOM.sequentialVideo';
/** The node that the editor's button starts, and the one that returns an item for each prompt. */
export const TRIGGER = 'Start';
const PROMPTS = 'Prompts';

const model = 'lumen-loop';
/** Length of the video in seconds. */
const duration = 1;
const prompt = '={{ $json.prompt }}';
/** The body of a creating request, as an expression. */
const body = `={{ JSON.stringify({ model: '${model}', prompt: $json.prompt, duration: ${duration}, resolution: '720p' }) }}`;
const modelField = { __rl: true, mode: 'id', value: model };

/** The Video Generation node of this package, with its default settings. */
const own = single('own', 'Video Generation', {
	type: 'n8n-nodes-media-generation.videoGeneration',
	version: 1,
	parameters: { model: modelField, prompt, resolution: '720p', duration },
});

/** n8n's own OpenAI node with its defaults: a status check every 10 s, and another pause after the last one. */
const openAi = single('openai', 'n8n’s OpenAI node', {
	type: '@n8n/n8n-nodes-langchain.openAi',
	version: 2.3,
	credential: 'openAiApi',
	parameters: {
		...{ resource: 'video', operation: 'generate', modelId: modelField },
		...{ prompt, seconds: duration, size: '1280x720', options: {} },
	},
});

const sequential = single('sequential', 'Sequential node', {
	type: SEQUENTIAL,
	version: 1,
	parameters: { body },
});

/**
 * Seconds between two status checks in the loop that tutorials and templates build for services like this one.
 * Templates wait between 10 s and a minute; 5 s is more favorable to them. So is the branch for failed generations:
 * without it, as in many templates, the loop would never end.
 */
const WAIT_SECONDS = 5;

const FROM_CREATE_ON: Edge[] = [
	...([
		['Create', 'Wait'],
		['Wait', 'Status'],
		['Status', 'Completed?'],
	] as Edge[]),
	...([
		['Completed?', 'Download'],
		['Completed?', 'Failed?', 1],
	] as Edge[]),
	...([
		['Failed?', 'Give Up'],
		['Failed?', 'Wait', 1],
	] as Edge[]),
];

/** Without Loop Over Items, all items at once would exceed the account's limit. */
const loop: Approach = {
	key: 'loop',
	name: 'HTTP Request, Wait, If',
	credential: 'mediaGenerationApi',
	steps: (baseUrl) => [
		base('Loop Over Items', 'splitInBatches', 3, { options: {} }),
		...chain(baseUrl, {}),
	],
	edges: [
		[PROMPTS, 'Loop Over Items'],
		['Loop Over Items', 'Create', 1],
		...FROM_CREATE_ON,
		['Download', 'Loop Over Items'],
	],
};

/**
 * The same nodes without Loop Over Items. To build this, users need to know the account's limit, and about how long a
 * video takes. HTTP Request submits videos up to the limit, and pauses before the next ones.
 */
const collect: Approach = {
	key: 'collect',
	name: 'Submit all, wait, collect',
	credential: 'mediaGenerationApi',
	steps: (baseUrl) =>
		chain(baseUrl, { options: { batching: { batch: { batchSize: 10, batchInterval: 25_000 } } } }),
	edges: [[PROMPTS, 'Create'], ...FROM_CREATE_ON],
};

/** All approaches, ours first. */
export const approaches: Approach[] = [own, openAi, loop, collect, sequential];

/** Returns a workflow that is started manually and passes one item for each prompt to the approach. */
export function workflowOf(
	name: string,
	prompts: string[],
	{ steps, edges }: Approach,
	baseUrl: string,
): WorkflowFile {
	const list = { mode: 'raw', jsonOutput: JSON.stringify({ prompt: prompts }), options: {} };
	const source = [
		base(TRIGGER, 'manualTrigger', 1, {}),
		base('List', 'set', 3.4, list),
		base(PROMPTS, 'splitOut', 1, { fieldToSplitOut: 'prompt', options: {} }),
	];
	const nodes = [...source, ...steps(baseUrl)].map(({ version, credential, ...step }, index) => ({
		...step,
		id: step.name,
		typeVersion: version,
		position: [index * 220, 0],
		credentials: credential && { [credential]: { id: null, name: '' } },
	}));
	const connections: Record<string, { main: object[][] }> = {};
	const all: Edge[] = [[TRIGGER, 'List'], ['List', PROMPTS], ...edges];
	for (const [from, to, output = 0] of all) {
		const { main } = (connections[from] ??= { main: [] });
		while (main.length <= output) main.push([]);
		main[output].push({ node: to, type: 'main', index: 0 });
	}
	return { name, nodes, connections, settings: { executionOrder: 'v1' } } as WorkflowFile;
}

function single(
	key: string,
	name: string,
	step: Omit<Step, 'name' | 'credential'> & { credential?: Approach['credential'] },
): Approach {
	const credential = step.credential ?? 'mediaGenerationApi';
	const only = { name: 'Videos', ...step, credential };
	return { key, name, credential, steps: () => [only], edges: [[PROMPTS, only.name]] };
}

function chain(baseUrl: string, creating: INodeParameters): Step[] {
	const authentication = 'predefinedCredentialType';
	const service = { authentication, nodeCredentialType: 'mediaGenerationApi' };
	const create = { sendBody: true, specifyBody: 'json', jsonBody: body, ...creating };
	const asFile = { response: { response: { responseFormat: 'file' } } };
	const url = `${baseUrl}/v1/videos/generations`;
	return [
		request('Create', { ...service, method: 'POST', url, ...create }),
		base('Wait', 'wait', 1.1, { amount: WAIT_SECONDS, unit: 'seconds' }),
		request('Status', { ...service, url: `=${baseUrl}/v1/generations/{{ $json.id }}` }),
		ifStatus('Completed?', 'completed'),
		request('Download', { url: '={{ $json.data[0].url }}', options: asFile }),
		ifStatus('Failed?', 'failed'),
		base('Give Up', 'stopAndError', 1, { errorMessage: '={{ $json.error.message }}' }),
	];
}

/** Returns one of n8n's basic nodes. */
function base(name: string, type: string, version: number, parameters: INodeParameters): Step {
	return { name, type: `n8n-nodes-base.${type}`, version, parameters };
}

function request(name: string, parameters: INodeParameters): Step {
	const credential = parameters.nodeCredentialType ? 'mediaGenerationApi' : undefined;
	return { ...base(name, 'httpRequest', 4.2, { options: {}, ...parameters }), credential };
}

function ifStatus(name: string, status: string): Step {
	const operator = { type: 'string', operation: 'equals' };
	const condition = { id: status, leftValue: '={{ $json.status }}', rightValue: status, operator };
	const options = { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 };
	const conditions = { options, combinator: 'and', conditions: [condition] };
	return base(name, 'if', 2.2, { conditions, options: {} });
}
