import type { INodeParameters } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { byId, openStage, prompts } from './stage';

const quick = { waitForCompletion: false };
const capable = { ...quick, model: byId('aurora-image-1') };
const input = (...entries: INodeParameters[]) => ({ referenceInputs: { input: entries } });

const stage = openStage();

describe('the request of an image', () => {
	it('holds every field that is filled in, under its wire name', async () => {
		const options = {
			size: '128x64',
			negativePrompt: 'text',
			seed: 7,
			editMode: 'inpaint',
			inputImages: 'https://example.com/a.png, https://example.com/b.png',
		};
		const reference = { source: 'url', type: '', url: 'https://example.com/c.png' };
		const parameters = { ...capable, aspectRatio: '16:9', options, ...input(reference) };
		const run = await stage.run('imageGeneration', parameters, { items: prompts('A lighthouse') });
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toEqual([
			{
				model: 'aurora-image-1',
				prompt: 'A lighthouse',
				size: '128x64',
				edit_mode: 'inpaint',
				input_images: ['https://example.com/a.png', 'https://example.com/b.png'],
				parameters: { aspect_ratio: '16:9', negative_prompt: 'text', seed: 7 },
				inputs: [{ type: 'image', source: 'url', value: 'https://example.com/c.png' }],
			},
		]);
	});

	it('leaves the size to the model by default, so a model without sizes works', async () => {
		const parameters = { ...quick, model: byId('kestrel-retouch'), prompt: 'A boat' };
		const run = await stage.runWorkflow(inARow(ownNode('Step', 'imageGeneration', parameters)));
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toEqual([{ model: 'kestrel-retouch', prompt: 'A boat' }]);
	});

	it('takes its values from expressions, item by item', async () => {
		const parameters = {
			...quick,
			model: byId('={{ $json.model }}'),
			options: {
				size: '={{ $json.size }}',
				seed: '={{ $json.seed }}',
				inputImages: '={{ $json.pictures }}',
			},
		};
		const items = [
			{ prompt: 'one', model: 'lumen-turbo', size: '64x64', seed: '3', pictures: null },
			{
				prompt: 'two',
				model: 'aurora-image-1',
				size: null,
				seed: '',
				pictures: ['https://example.com/a.png'],
			},
		];
		await stage.run('imageGeneration', parameters, { items });
		expect(stage.bodies).toEqual([
			{ model: 'lumen-turbo', prompt: 'one', size: '64x64', parameters: { seed: 3 } },
			{ model: 'aurora-image-1', prompt: 'two', input_images: ['https://example.com/a.png'] },
		]);
	});

	it('accepts a model chosen from the list', async () => {
		const model = { __rl: true, mode: 'list', value: 'lumen-turbo', cachedResultName: 'Lumen' };
		await stage.run('imageGeneration', { ...quick, model }, { items: prompts('A boat') });
		expect(stage.bodies).toEqual([{ model: 'lumen-turbo', prompt: 'A boat', size: '64x64' }]);
	});

	it('sends data URIs unchanged, with the type that they state unless another one is chosen', async () => {
		const picture = 'data:image/png;base64,iVBORw0KGgo=';
		const sound = 'data:audio/mpeg;base64,SUQzBAA=';
		const parameters = {
			...capable,
			...input(
				{ source: 'url', type: '', url: picture },
				{ source: 'url', type: '', url: sound },
				{ source: 'url', type: 'video', url: picture },
			),
		};
		await stage.run('imageGeneration', parameters, { items: prompts('A boat') });
		expect(stage.bodies[0].inputs).toEqual([
			{ type: 'image', source: 'data', value: picture },
			{ type: 'audio', source: 'data', value: sound },
			{ type: 'video', source: 'data', value: picture },
		]);
	});
});

describe('the request of a video', () => {
	it('contains every field that is filled in, under its wire name', async () => {
		const parameters = {
			...quick,
			model: byId('aurora-motion-1'),
			resolution: '1080p',
			duration: 2.5,
			imageUrl: 'https://example.com/first.png',
			options: {
				fps: 30,
				negativePrompt: 'text',
				seed: 7,
				inputImages: 'https://example.com/a.png\nhttps://example.com/b.png',
			},
		};
		const run = await stage.run('videoGeneration', parameters, { items: prompts('A wave') });
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toEqual([
			{
				model: 'aurora-motion-1',
				prompt: 'A wave',
				resolution: '1080p',
				duration: 2.5,
				fps: 30,
				image_url: 'https://example.com/first.png',
				negative_prompt: 'text',
				seed: 7,
				input_images: ['https://example.com/a.png', 'https://example.com/b.png'],
			},
		]);
		expect(stage.sandbox.requests.on('create').map(({ path }) => path)).toEqual([
			'/v1/videos/generations',
		]);
	});

	it('leaves everything to the model by default', async () => {
		const parameters = { ...quick, model: byId('lumen-loop'), prompt: 'A wave' };
		await stage.runWorkflow(inARow(ownNode('Step', 'videoGeneration', parameters)));
		expect(stage.bodies).toEqual([{ model: 'lumen-loop', prompt: 'A wave' }]);
	});

	it.each([
		['Frames per Second', 'tidal-still-to-video', { options: { fps: 24 } }],
		['Resolution', 'tidal-wide', { resolution: '720p' }],
	])('with default fields is accepted by a model without %s', async (field, model, chosen) => {
		const parameters = { ...quick, model: byId(model), prompt: 'A wave' };
		const step = (more = {}) => ownNode('Step', 'videoGeneration', { ...parameters, ...more });
		const run = await stage.runWorkflow(inARow(step()));
		expect([run.error, stage.bodies.length]).toEqual([undefined, 1]);
		const refused = await stage.runWorkflow(inARow(step(chosen)));
		expect(refused.error).toMatchObject({
			message: expect.stringContaining(`does not support ${field}`),
		});
	});
});

it.each<[string, INodeParameters, string]>([
	[
		'imageGeneration',
		{
			aspectRatio: '',
			options: {
				size: '',
				negativePrompt: ' ',
				seed: '',
				editMode: '',
				inputImages: '',
				fileName: '',
				binaryPropertyName: '',
			},
			...input(),
		},
		'lumen-turbo',
	],
	['imageGeneration', { options: { size: '' } }, 'lumen-turbo'],
	[
		'videoGeneration',
		{
			resolution: '={{ null }}',
			duration: '={{ null }}',
			imageUrl: '',
			options: { fps: '={{ "" }}', negativePrompt: '', seed: '', inputImages: '' },
		},
		'aurora-motion-1',
	],
])('a request leaves out every optional field that is empty: %s %j', async (node, empty, model) => {
	const run = await stage.run(node, { ...quick, ...empty }, { items: prompts('A wave') });
	expect(run.error).toBeUndefined();
	expect(stage.bodies).toEqual([{ model, prompt: 'A wave' }]);
});
