import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { byId, openStage, prompts } from './stage';

const quick = { waitForCompletion: false };
const capable = { ...quick, model: byId('aurora-image-1') };
const input = (...entries: INodeParameters[]) => ({ referenceInputs: { input: entries } });

describe('the request of an image', () => {
	const stage = openStage();

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

	it.each(['128 x 64', '128×64', '128X64'])('has the size that is written as %s', async (size) => {
		const parameters = { ...capable, options: { size } };
		const run = await stage.run('imageGeneration', parameters, { items: prompts('A lighthouse') });
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toMatchObject([{ size: '128x64' }]);
	});

	it('leaves out every optional field that is empty', async () => {
		const empty = {
			size: '',
			negativePrompt: ' ',
			seed: '',
			editMode: '',
			inputImages: '',
			fileName: '',
			binaryPropertyName: '',
		};
		const parameters = { ...quick, aspectRatio: '', options: empty, ...input() };
		await stage.run('imageGeneration', parameters, { items: prompts('A lighthouse') });
		await stage.run(
			'imageGeneration',
			{ ...quick, options: { size: '' } },
			{ items: prompts('A boat') },
		);
		expect(stage.bodies).toEqual([
			{ model: 'lumen-turbo', prompt: 'A lighthouse' },
			{ model: 'lumen-turbo', prompt: 'A boat' },
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
				{ source: 'data', type: '', data: picture },
				{ source: 'data', type: '', data: sound },
				{ source: 'data', type: 'video', data: picture },
			),
		};
		await stage.run('imageGeneration', parameters, { items: prompts('A boat') });
		expect(stage.bodies[0].inputs).toEqual([
			{ type: 'image', source: 'data', value: picture },
			{ type: 'audio', source: 'data', value: sound },
			{ type: 'video', source: 'data', value: picture },
		]);
	});

	it('removes line breaks from data URIs before it sends them', async () => {
		const data = 'data:image/png;base64,\niVBORw0K\r\nGgo=\n';
		const parameters = { ...capable, ...input({ source: 'data', type: '', data }) };
		const run = await stage.run('imageGeneration', parameters, { items: prompts('A boat') });
		expect(run.error).toBeUndefined();
		const [reference] = stage.bodies[0].inputs as IDataObject[];
		expect(reference.value).toBe('data:image/png;base64,iVBORw0KGgo=');
	});

	it('does not split URLs of an image service at their commas', async () => {
		const urls = ['https://img.example.com/w_200,h_100/a.png', 'https://example.com/b.png'];
		const options = { inputImages: urls.join() };
		await stage.run('imageGeneration', { ...capable, options }, { items: prompts('A boat') });
		expect(stage.bodies[0].input_images).toEqual(urls);
	});

	it('sends URLs as images unless another type is chosen', async () => {
		const url = 'https://example.com/c?d=1';
		const parameters = {
			...capable,
			...input({ source: 'url', url }, { source: 'url', type: 'video', url }),
		};
		await stage.run('imageGeneration', parameters, { items: prompts('A boat') });
		expect(stage.bodies[0].inputs).toEqual([
			{ type: 'image', source: 'url', value: url },
			{ type: 'video', source: 'url', value: url },
		]);
	});
});
