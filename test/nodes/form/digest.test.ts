import type { IBinaryData, IDataObject } from 'n8n-workflow';

import type { CreateJob } from '../../../client/jobs/job';
import { planImage } from '../../../nodes/ImageGeneration/request';
import { planVideo } from '../../../nodes/VideoGeneration/request';
import { contextOf } from '../../support/context';

/** What identifies the request of an item: keys with New Output If the Request Changes are stored, and contain it. */

const step = { image: planImage, video: planVideo };

async function planned(type: 'image' | 'video', parameters: IDataObject, binary = {}) {
	const files = binary as Record<string, IBinaryData>;
	const { step: taken } = contextOf({
		parameters,
		node: { parameters: parameters as never },
		items: [{ json: {}, binary: files }],
		helpers: {
			assertBinaryData: (_: number, name: string) => files[name],
			createBinarySignedUrl: () => `https://n8n.example.com/${Math.random()}`,
			getBinaryMetadata: async () => await Promise.resolve({ fileSize: 3 }),
		},
	});
	const plans = await step[type](taken, 0);
	return plans.map(({ job }) => job as CreateJob);
}

const image: IDataObject = { model: 'aurora', prompt: 'A boat' };
const digestOf = async (...given: Parameters<typeof planned>) =>
	(await planned(...given))[0].digest;

/** An image with every field, and a video likewise. */
const everyField = {
	image: {
		...image,
		aspectRatio: '16:9',
		referenceInputs: {
			input: [
				{ url: 'https://example.com/a.png' },
				{ url: 'data:image/png;base64,\niVBORw0KGgo=', type: '' },
				{ source: 'binary', binaryPropertyName: 'photo' },
				{ source: 'binary', binaryPropertyName: 'stored' },
			],
		},
		options: {
			...{ size: '64 x 64', editMode: 'inpaint', inputImages: 'https://example.com/b.png' },
			...{ negativePrompt: 'fog', seed: '7' },
			additionalFields: '{"style": "ink", "parameters": {"steps": 20}}',
		},
	},
	video: {
		...image,
		...{ resolution: '720p', duration: 5, imageUrl: 'https://example.com/a.png' },
		options: { fps: 24, negativePrompt: 'fog', seed: 7, inputImages: ['https://a.example/b.png'] },
	},
};
const files = {
	photo: { data: 'iVBORw0KGgo=', mimeType: 'image/png' },
	stored: { data: 'filesystem-v2', id: 'filesystem-v2:one', bytes: 9, mimeType: 'image/png' },
};

// If this fails, an update of the package creates and charges again what users have paid for. Never change it.
it('the digest of a request, and the key that contains it, never change', async () => {
	const options = { ...everyField.image.options, idempotencyKey: 'B-1', newOnChange: true };
	const jobs = await planned('image', { ...everyField.image, options, numberOfOutputs: 2 }, files);
	expect(jobs.map(({ idempotencyKey, digest }) => [idempotencyKey, digest])).toEqual([
		['B-1 2f9101f4746bf672', '2f9101f4746bf6724c74028a6d4b0cd0'],
		['B-1 2f9101f4746bf672#2', '2f9101f4746bf6724c74028a6d4b0cd0'],
	]);
	expect(await digestOf('video', everyField.video)).toBe('9558a24616012bf272da87afaff0ca36');
	expect(await digestOf('image', image)).toBe('fd4311dea7f6322ca784b3e09b09583f');
});

describe('the digest of a request is the same', () => {
	it.each<[string, IDataObject]>([
		['for fields that are added and empty', { aspectRatio: '', options: { seed: null, size: '' } }],
		['for additional fields without content', { options: { additionalFields: '{}' } }],
		['for fields that say how the output is returned', { options: { fileName: 'a' } }],
		['for run options', { runOptions: { timeout: 5, fallbackModels: ['lumen'] } }],
		['for more outputs, without waiting', { numberOfOutputs: 3, waitForCompletion: false }],
		['with a key', { options: { idempotencyKey: 'B-1', newOnChange: true } }],
	])('%s', async (_, more) => {
		expect(await digestOf('image', { ...image, ...more })).toBe(await digestOf('image', image));
	});

	it('for numbers as text, in another spelling, and with the fields of an object in another order', async () => {
		const digests = [
			{ seed: 7, size: '64x64', additionalFields: { a: 1, b: { c: 2, d: 3 } } },
			{ additionalFields: '{"b": {"d": 3, "c": 2}, "a": 1}', size: '64 × 64', seed: ' 7 ' },
		].map(async (options) => await digestOf('image', { ...image, options }));
		expect(await digests[0]).toBe(await digests[1]);
	});

	it('for a URL that is signed anew, such as that of an image of Image Generation', async () => {
		const at = async (url: string) => await digestOf('video', { ...image, imageUrl: url });
		const url = 'https://cdn.example.com/a.png';
		const one = await at(`${url}?X-Amz-Date=20260101T000000Z&X-Amz-Signature=abc`);
		expect(await at(`${url}?X-Amz-Date=20260102T000000Z&X-Amz-Signature=def`)).toBe(one);
		expect(await at('https://cdn.example.com/b.png?X-Amz-Signature=abc')).not.toBe(one);
		expect(await at(`${url}?id=1`)).not.toBe(await at(`${url}?id=2`));
	});

	it('each time that a URL of a file is signed, and after n8n has stored the file', async () => {
		const parameters = { ...image, imageSource: 'binary', imageBinaryField: 'stored' };
		const digest = await digestOf('video', parameters, files);
		expect(await digestOf('video', parameters, files)).toBe(digest);
		expect(digest).not.toBe(await digestOf('video', image));
	});
});

describe('the digest of a request differs', () => {
	it.each<[string, IDataObject, object?]>([
		['for another prompt', { prompt: 'A ship' }],
		['for an additional field', { options: { additionalFields: '{"style": "ink"}' } }],
		['for a reference', { referenceInputs: { input: [{ url: 'https://example.com/a.png' }] } }],
	])('%s', async (_, more) => {
		expect(await digestOf('image', { ...image, ...more })).not.toBe(await digestOf('image', image));
	});

	it('for another file, or one of another size', async () => {
		const { stored, photo } = files;
		const input = [{ source: 'binary', binaryPropertyName: 'photo' }];
		const parameters = { ...image, referenceInputs: { input } };
		const given = [photo, stored, { ...stored, id: 'filesystem-v2:two' }, { ...stored, bytes: 8 }];
		const digests = [...given, { ...photo, data: 'AAAA' }].map(
			async (file) => await digestOf('image', parameters, { photo: file }),
		);
		expect(new Set(await Promise.all(digests)).size).toBe(5);
	});
});
