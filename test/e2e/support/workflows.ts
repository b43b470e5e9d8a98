import { randomUUID } from 'node:crypto';
import type { INode, INodeParameters } from 'n8n-workflow';
import type { WorkflowFile } from '../../../tools/n8n/rest';

/** Prefix of every node type of the package. */
export const packageName = 'n8n-nodes-media-generation';

export const trigger = 'Start';

type Settings = Partial<Omit<INode, 'id' | 'parameters'>>;
type Unplaced = Omit<INode, 'position'>;

/** A node of the package, or one of n8n's. */
export type Step = OwnNode | Unplaced;

/** A node of the package, with the settings under test. */
export interface OwnNode extends Settings {
	name: string;
	/** Without the name of the package. */
	type: string;
	parameters: INodeParameters;
}

const credentials = { mediaGenerationApi: { id: null, name: 'Media Generation account' } };

function node(name: string, type: string, version: number, parameters: INodeParameters): Unplaced {
	return { id: randomUUID(), name, type, typeVersion: version, parameters };
}

function nodeOf(step: Step): Unplaced {
	if ('id' in step) return step;
	const { type, ...rest } = step;
	return {
		id: randomUUID(),
		typeVersion: 1,
		...rest,
		type: `${packageName}.${type}`,
		credentials,
	};
}

function inLine(nodes: Unplaced[]): Pick<WorkflowFile, 'nodes' | 'connections' | 'settings'> {
	const connections: Record<string, object> = {};
	nodes.slice(0, -1).forEach(({ name }, index) => {
		const next = { node: nodes[index + 1].name, type: 'main', index: 0 };
		connections[name] = { main: [[next]] };
	});
	const placed = nodes.map((each, index) => ({ ...each, position: [index * 220, 0] }));
	return { nodes: placed, connections, settings: { executionOrder: 'v1' } };
}

function split(field: string): Unplaced {
	const options = { destinationFieldName: 'prompt' };
	return node('Prompts', 'n8n-nodes-base.splitOut', 1, { fieldToSplitOut: field, options });
}

/** Returns a manual workflow that sends one item for each prompt through the given nodes. */
export function byHand(name: string, prompts: string[], ...nodes: Step[]): WorkflowFile {
	const jsonOutput = JSON.stringify({ prompt: prompts });
	const set = { mode: 'raw', jsonOutput, options: {} };
	return {
		name,
		...inLine([
			node(trigger, 'n8n-nodes-base.manualTrigger', 1, {}),
			node('List', 'n8n-nodes-base.set', 3.4, set),
			split('prompt'),
			...nodes.map(nodeOf),
		]),
	};
}

/** The response of a webhook: the ID of the execution immediately, or its items at the end. */
export type Answer = 'id' | 'items';

const answers: Record<Answer, INodeParameters> = {
	id: { responseMode: 'onReceived', options: { responseData: '={{ $execution.id }}' } },
	items: { responseMode: 'lastNode', responseData: 'allEntries', options: {} },
};

/** Returns a workflow that starts by a request to `/webhook/<path>` with a list `prompt` in its body. */
export function byWebhook(path: string, nodes: Step[], answer: Answer = 'id'): WorkflowFile {
	const parameters = { httpMethod: 'POST', path, ...answers[answer] };
	return {
		name: path,
		...inLine([
			{ ...node(trigger, 'n8n-nodes-base.webhook', 2, parameters), webhookId: randomUUID() },
			split('body.prompt'),
			...nodes.map(nodeOf),
		]),
	};
}

/** An Image Generation node that takes its prompt from the item, with these run options and this key. */
export function imageNode(
	{ idempotencyKey, ...runOptions }: INodeParameters = {},
	settings: Settings = {},
): OwnNode {
	return {
		name: 'Images',
		type: 'imageGeneration',
		parameters: {
			model: { __rl: true, mode: 'id', value: 'aurora-image-1' },
			prompt: '={{ $json.prompt }}',
			...(idempotencyKey !== undefined && { options: { idempotencyKey } }),
			runOptions: { pollInterval: 1, ...runOptions },
		},
		...settings,
	};
}

/** Like `imageNode`, but with a small picture, for measurements: drawing a large one would load the same machine. */
export function smallImageNode(options: INodeParameters = {}, settings: Settings = {}): OwnNode {
	const { parameters, ...node } = imageNode(options, settings);
	return { ...node, parameters: small(parameters) };
}

/** Adds the size of a small picture to the options of an Image Generation node. */
export function small(parameters: INodeParameters): INodeParameters {
	return { ...parameters, options: { ...(parameters.options as object), size: '256x256' } };
}

/** Returns this many prompts, which tests can tell apart. */
export function promptsNamed(name: string, count: number): string[] {
	return Array.from({ length: count }, (_, index) => `${name} ${index + 1} of ${count}`);
}

/** Creates pictures without waiting for them. */
export const submit: OwnNode = {
	...imageNode(),
	parameters: small({ ...imageNode().parameters, waitForCompletion: false }),
};

/** Waits suspended for what `submit` has created. */
export function suspended(parameters: INodeParameters = {}): OwnNode {
	return {
		name: 'Asleep',
		type: 'waitForCompletion',
		parameters: { mode: 'suspend', ...parameters },
	};
}
