import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { binaryOf, byId, openStage, prompts, sha256 } from './stage';

const stage = openStage();
const quick = { waitForCompletion: false };

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

	it('may start from an image on the web that has no https', async () => {
		const urls = ['http://example.com/first.png', 'http://example.com/a.png'];
		const options = { inputImages: urls[1] };
		const parameters = { ...quick, imageUrl: urls[0], options };
		const run = await stage.run('videoGeneration', parameters, { items: prompts('A wave') });
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toMatchObject([{ image_url: urls[0], input_images: [urls[1]] }]);
	});

	it('leaves out every optional field that is empty', async () => {
		const parameters = {
			...quick,
			resolution: '={{ null }}',
			duration: '={{ null }}',
			imageUrl: '',
			options: { fps: '={{ "" }}', negativePrompt: '', seed: '', inputImages: '' },
		};
		const run = await stage.run('videoGeneration', parameters, { items: prompts('A wave') });
		expect(run.error).toBeUndefined();
		expect(stage.bodies).toEqual([{ model: 'aurora-motion-1', prompt: 'A wave' }]);
	});

	it('asks for 4 seconds and leaves everything else to the model by default', async () => {
		const parameters = { ...quick, model: byId('lumen-loop'), prompt: 'A wave' };
		await stage.runWorkflow(inARow(ownNode('Step', 'videoGeneration', parameters)));
		expect(stage.bodies).toEqual([{ model: 'lumen-loop', prompt: 'A wave', duration: 4 }]);
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

	it('accepts numbers as text, and every available frame rate and resolution', async () => {
		const parameters = {
			...quick,
			resolution: '={{ $json.resolution }}',
			duration: '={{ $json.duration }}',
			options: { fps: '={{ $json.fps }}' },
		};
		const items = [
			{ prompt: 'a', resolution: '480p', duration: '0.5', fps: '12' },
			{ prompt: 'b', resolution: '720p', duration: '8', fps: '24' },
			{ prompt: 'c', resolution: '1080p', duration: 1, fps: 30 },
		];
		await stage.run('videoGeneration', parameters, { items });
		expect(stage.bodies).toMatchObject([
			{ resolution: '480p', duration: 0.5, fps: 12 },
			{ resolution: '720p', duration: 8, fps: 24 },
			{ resolution: '1080p', duration: 1, fps: 30 },
		]);
	});
});

describe('the output of a video', () => {
	it('is the exact file of the service, under a matching name', async () => {
		const items = prompts('[seconds: 5] one', '[seconds: 2] two');
		const run = await stage.run(
			'videoGeneration',
			{ options: { binaryPropertyName: 'clip' } },
			{ items },
		);
		const made = stage.sandbox.books.generations;
		expect(run.output('Step').map(({ json, pairedItem }) => ({ json, pairedItem }))).toStrictEqual(
			made.map((entry, item) => ({
				json: stage.promised({ ...entry, state: 'completed' }),
				pairedItem: { item },
			})),
		);
		for (const [index, item] of run.output('Step').entries()) {
			const field = binaryOf(item, 'clip');
			const served = await stage.served(made[index].id);
			expect(field).toMatchObject({
				fileName: `${['seconds-5-one', 'seconds-2-two'][index]}-${made[index].id.slice(0, 8)}.mp4`,
				fileExtension: 'mp4',
				fileType: 'video',
				mimeType: 'video/mp4',
				bytes: served.length,
			});
			expect(sha256(await run.binary(field))).toBe(sha256(served));
		}
	});

	it('is the pending generation, immediately, if the step does not wait', async () => {
		const run = await stage.run('videoGeneration', quick, { items: prompts('A wave') });
		const [made] = stage.sandbox.books.generations;
		expect(run.output('Step')).toStrictEqual([
			{ json: stage.promised({ ...made, state: 'pending' }), pairedItem: { item: 0 } },
		]);
	});

	it('is the completed generation without a file if the step does not download', async () => {
		const parameters = { downloadOutput: false };
		const run = await stage.run('videoGeneration', parameters, { items: prompts('A wave') });
		const [made] = stage.sandbox.books.generations;
		expect(run.output('Step')).toStrictEqual([
			{ json: stage.promised({ ...made, state: 'completed' }), pairedItem: { item: 0 } },
		]);
		expect(stage.sandbox.requests.on('download')).toEqual([]);
	});
});
