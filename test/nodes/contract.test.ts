import type { INodeProperties, INodeType } from 'n8n-workflow';

import manifest from '../../package.json';
import { GenerationCredits } from '../../nodes/GenerationCredits/GenerationCredits.node';
import { GenerationModels } from '../../nodes/GenerationModels/GenerationModels.node';
import { ImageGeneration } from '../../nodes/ImageGeneration/ImageGeneration.node';
import { VideoGeneration } from '../../nodes/VideoGeneration/VideoGeneration.node';
import { WaitForCompletion } from '../../nodes/WaitForCompletion/WaitForCompletion.node';

/** Saved workflows hold these names, types and defaults: a change here breaks them. */

type Field = [type: string, whenUntouched: unknown];

const LOCATOR: Field = ['resourceLocator', { mode: 'list', value: '' }];

function running(timeout: number): Record<string, Field> {
	return {
		maxConcurrent: ['number', 10],
		pollInterval: ['number', 3],
		readiness: ['options', 'auto'],
		timeout: ['number', timeout],
		onTimeout: ['options', 'error'],
	};
}

const CREATING: Record<string, Field> = {
	onUncertainCharge: ['options', 'error'],
	whileWaiting: ['options', 'poll'],
	retriesOnFailure: ['number', 0],
	fallbackModels: ['multiOptions', []],
	maxNewGenerations: ['number', 10],
	minimumBalance: ['number', 0],
};

const DOWNLOAD: Record<string, Field> = {
	downloadOutput: ['boolean', true],
	binaryPropertyName: ['string', 'data'],
};

interface Contract {
	node: INodeType;
	name: string;
	displayName: string;
	parameters: Record<string, Field>;
	options?: Record<string, Field>;
	runOptions?: Record<string, Field>;
}

const NODES: Contract[] = [
	{
		node: new ImageGeneration(),
		name: 'imageGeneration',
		displayName: 'Image Generation',
		parameters: {
			model: LOCATOR,
			prompt: ['string', ''],
			numberOfOutputs: ['number', 1],
			size: ['string', ''],
			referenceInputs: ['fixedCollection', {}],
			waitForCompletion: ['boolean', true],
			...DOWNLOAD,
			options: ['collection', {}],
			runOptions: ['collection', {}],
		},
		options: {
			additionalFields: ['json', '{}'],
			fileName: ['string', ''],
			includeOtherFields: ['boolean', false],
			idempotencyKey: ['string', ''],
			aspectRatio: ['options', ''],
			negativePrompt: ['string', ''],
			seed: ['number', 0],
			editMode: ['string', ''],
			inputImages: ['string', ''],
		},
		runOptions: { ...running(600), ...CREATING },
	},
	{
		node: new VideoGeneration(),
		name: 'videoGeneration',
		displayName: 'Video Generation',
		parameters: {
			model: LOCATOR,
			prompt: ['string', ''],
			numberOfOutputs: ['number', 1],
			resolution: ['options', ''],
			duration: ['number', 4],
			fps: ['options', ''],
			imageUrl: ['string', ''],
			waitForCompletion: ['boolean', true],
			...DOWNLOAD,
			options: ['collection', {}],
			runOptions: ['collection', {}],
		},
		options: {
			additionalFields: ['json', '{}'],
			fileName: ['string', ''],
			includeOtherFields: ['boolean', false],
			idempotencyKey: ['string', ''],
			negativePrompt: ['string', ''],
			seed: ['number', 0],
			inputImages: ['string', ''],
		},
		runOptions: { ...running(1800), ...CREATING },
	},
	{
		node: new WaitForCompletion(),
		name: 'waitForCompletion',
		displayName: 'Wait for Completion',
		parameters: {
			generationId: ['string', '={{ $json.id }}'],
			mode: ['options', 'poll'],
			...DOWNLOAD,
			options: ['collection', {}],
			runOptions: ['collection', {}],
		},
		options: { fileName: ['string', ''], includeOtherFields: ['boolean', false] },
		runOptions: running(1800),
	},
	{
		node: new GenerationModels(),
		name: 'generationModels',
		displayName: 'Generation Models',
		parameters: {
			operation: ['options', 'getAll'],
			type: ['options', 'all'],
			returnAll: ['boolean', false],
			limit: ['number', 50],
			modelId: LOCATOR,
		},
	},
	{
		node: new GenerationCredits(),
		name: 'generationCredits',
		displayName: 'Generation Credits',
		parameters: { operation: ['options', 'getBalance'], options: ['collection', {}] },
		options: { minimumBalance: ['number', 0] },
	},
];

function fieldsOf(properties: INodeProperties[]): Record<string, Field> {
	return Object.fromEntries(
		properties.map(({ name, type, default: value }): [string, Field] => [name, [type, value]]),
	);
}

function inside({ description }: INodeType, collection: string): INodeProperties[] {
	const found = description.properties.find(({ name }) => name === collection);
	return (found?.options ?? []) as INodeProperties[];
}

it('the package has the format that n8n requires, and no dependencies of its own', () => {
	expect(manifest).toMatchObject({
		name: 'n8n-nodes-media-generation',
		license: 'MIT',
		files: ['dist'],
		peerDependencies: { 'n8n-workflow': '*' },
		n8n: {
			n8nNodesApiVersion: 1,
			strict: true,
			credentials: ['dist/credentials/MediaGenerationApi.credentials.js'],
		},
	});
	expect(manifest).not.toHaveProperty('dependencies');
});

describe('the five nodes', () => {
	it('are those of the package', () => {
		expect(manifest.n8n.nodes).toHaveLength(NODES.length);
		expect(NODES.map(({ node }) => `${node.constructor.name}.node.js`).sort()).toEqual(
			manifest.n8n.nodes.map((path) => path.split('/').at(-1)).sort(),
		);
	});

	describe.each(NODES)('$displayName', (contract) => {
		const { node, name, displayName, parameters, options = {}, runOptions = {} } = contract;
		const { description } = node;

		it('has its name, one input, one output, the credential, and is usable as a tool', () => {
			expect(description).toMatchObject({
				name,
				displayName,
				inputs: ['main'],
				outputs: ['main'],
				usableAsTool: { replacements: { description: expect.any(String) as string } },
				credentials: [{ name: 'mediaGenerationApi', required: true }],
			});
		});

		it('has a light and a dark icon', () => {
			expect(description.icon).toEqual({
				light: expect.stringMatching(/^file:.*\.svg$/) as string,
				dark: expect.stringMatching(/^file:.*\.dark\.svg$/) as string,
			});
		});

		it('has its parameters, with their types and defaults', () => {
			const shown = description.properties.filter(
				({ type }) => type !== 'hidden' && type !== 'notice',
			);
			expect(fieldsOf(shown)).toEqual(parameters);
		});

		it('has its options and run options, with their types and defaults', () => {
			expect(fieldsOf(inside(node, 'options'))).toEqual(options);
			expect(fieldsOf(inside(node, 'runOptions'))).toEqual(runOptions);
		});
	});
});

describe('the choices of a parameter', () => {
	function valuesOf(node: INodeType, name: string): unknown[] {
		const field = [
			...node.description.properties,
			...inside(node, 'options'),
			...inside(node, 'runOptions'),
		].find((property) => property.name === name);
		return (field?.options ?? []).map((option) => ('value' in option ? option.value : option));
	}

	const [image, video, wait, models, credits] = NODES.map(({ node }) => node);

	it.each<[string, INodeType, string, unknown[]]>([
		['image', image, 'onTimeout', ['error', 'continue']],
		['image', image, 'onUncertainCharge', ['error', 'resubmit']],
		['image', image, 'whileWaiting', ['poll', 'suspend']],
		['video', video, 'whileWaiting', ['poll', 'suspend']],
		['video', video, 'resolution', ['', '480p', '720p', '1080p']],
		['video', video, 'fps', ['', 12, 24, 30]],
		['image', image, 'aspectRatio', ['', '1:1', '4:5', '9:16', '16:9']],
		['wait', wait, 'mode', ['poll', 'suspend', 'check']],
		['image', image, 'readiness', ['auto', 'status', 'outputUrl']],
		['wait', wait, 'readiness', ['auto', 'status', 'outputUrl']],
		['models', models, 'operation', ['getAll', 'get']],
		['models', models, 'type', ['all', 'image', 'video']],
		['credits', credits, 'operation', ['getBalance', 'getSummary']],
	])('match those in saved workflows: %s, %#', (_, node, name, values) => {
		expect(new Set(valuesOf(node, name))).toEqual(new Set(values));
	});

	it('of a reference input are its three sources and kinds', () => {
		const [{ values }] = image.description.properties.find(({ name }) => name === 'referenceInputs')
			?.options as Array<{ values: INodeProperties[] }>;
		expect(values.map(({ name }) => name).sort()).toEqual([
			'binaryPropertyName',
			'data',
			'source',
			'type',
			'url',
		]);
		const choices = (name: string) =>
			values
				.find((field) => field.name === name)
				?.options?.map((option) => ('value' in option ? option.value : null));
		expect(choices('source')?.sort()).toEqual(['binary', 'data', 'url']);
		expect(choices('type')).toEqual(expect.arrayContaining(['image', 'video', 'audio']));
	});
});
