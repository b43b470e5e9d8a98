import type { INodeParameters } from 'n8n-workflow';

import { sequentialType } from './extension';
import { prompts } from './graph';
import type { Edge, Step } from './graph';
import { collectEdges, collectSteps, loopEdges, loopSteps } from './hand-built-loop';

/** A way to make many videos in n8n. */
export interface Approach {
	/** Used in the names of its accounts and workflows. */
	key: string;
	/** The name shown in the documentation. */
	name: string;
	/** Type of the credential that it uses. */
	credential: 'mediaGenerationApi' | 'openAiApi';
	/**
	 * Returns the nodes after the items with the prompts.
	 *
	 * @param baseUrl of the service
	 */
	steps(baseUrl: string): Step[];
	edges: Edge[];
}

const model = 'lumen-loop';
/** Length of the video in seconds. */
const duration = 1;
const prompt = '={{ $json.prompt }}';
/** The body of a creating request, as an expression. */
const body = `={{ JSON.stringify({ model: '${model}', prompt: $json.prompt, duration: ${duration}, resolution: '720p' }) }}`;

/** The Video Generation node of this package with its default settings. */
export const own: Approach = single('own', 'Video Generation', {
	type: 'n8n-nodes-media-generation.videoGeneration',
	version: 1,
	parameters: {
		model: { __rl: true, mode: 'id', value: model },
		prompt,
		resolution: '720p',
		duration,
	},
});

/** n8n's own OpenAI node with its defaults: a status check every 10 s, and another pause after the last one. */
const openAi: Approach = single('openai', 'n8n’s OpenAI node', {
	type: '@n8n/n8n-nodes-langchain.openAi',
	version: 2.3,
	parameters: {
		resource: 'video',
		operation: 'generate',
		modelId: { __rl: true, mode: 'id', value: model },
		prompt,
		seconds: duration,
		size: '1280x720',
		options: {},
	},
	credential: 'openAiApi',
});

const loop: Approach = {
	key: 'loop',
	name: 'HTTP Request, Wait, If',
	credential: 'mediaGenerationApi',
	steps: (baseUrl) => loopSteps(baseUrl, body),
	edges: loopEdges,
};

const collect: Approach = {
	key: 'collect',
	name: 'Submit all, wait, collect',
	credential: 'mediaGenerationApi',
	steps: (baseUrl) => collectSteps(baseUrl, body),
	edges: collectEdges,
};

const sequential: Approach = single('sequential', 'Sequential node', {
	type: sequentialType,
	version: 1,
	parameters: { body },
});

/** All other approaches. Only `collect` makes several videos at the same time. */
export const others: Approach[] = [openAi, loop, collect, sequential];

function single(
	key: string,
	name: string,
	step: {
		type: string;
		version: number;
		parameters: INodeParameters;
		credential?: Approach['credential'];
	},
): Approach {
	const credential = step.credential ?? 'mediaGenerationApi';
	const only = { name: 'Videos', ...step, credential };
	return { key, name, credential, steps: () => [only], edges: [[prompts, only.name]] };
}
