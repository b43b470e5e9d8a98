import type { IBinaryData, IDataObject } from 'n8n-workflow';

import { InvalidInputError, MAX_INLINE_BYTES } from '../../../nodes/shared/form/checks';
import { readForm } from '../../../nodes/shared/form/form';
import { referenceInputs, referenceInputsField } from '../../../nodes/shared/form/reference-inputs';
import type { Step } from '../../../nodes/shared/step';
import { contextOf } from '../../support/context';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const DATA = `data:image/png;base64,${PNG.toString('base64')}`;

async function inputsOf(step: Step) {
	return await referenceInputs(step, 0, readForm(step, 0, [referenceInputsField]));
}

/** Reads the inputs of one item with one file, `photo`. */
function reading(input: IDataObject[], file: Partial<IBinaryData> = {}, bytes = PNG) {
	const read: string[] = [];
	const photo = { data: bytes.toString('base64'), mimeType: 'image/png', ...file };
	const { step } = contextOf({
		parameters: { referenceInputs: { input } },
		items: [{ json: {}, binary: { photo } }],
		helpers: {
			assertBinaryData: (_: number, name: string) => {
				if (name === 'photo') return photo;
				throw new Error('No such field');
			},
			prepareBinaryData: async () => ({ ...photo, id: 'filesystem-v2:1' }),
			createBinarySignedUrl: () => 'http://localhost:5678/rest/binary-data/signed?token=a',
			getBinaryDataBuffer: async (_: number, file: object) => {
				if (file === photo) read.push('photo');
				return bytes;
			},
		},
	});
	return { read, load: async () => await inputsOf(step) };
}

describe('a reference input', () => {
	it.each<[string, IDataObject, object]>([
		[
			'a URL',
			{ source: 'url', type: 'video', url: ' https://example.com/a.mp4 ' },
			{ type: 'video', source: 'url', value: 'https://example.com/a.mp4' },
		],
		[
			'a URL, for nothing else is said',
			{ url: 'https://example.com/a.png' },
			{ type: 'image', source: 'url', value: 'https://example.com/a.png' },
		],
		['data', { source: 'data', type: 'image', data: DATA }, { type: 'image', value: DATA }],
		[
			'data whose kind stands in it',
			{ source: 'data', data: 'data:audio/wav;base64,UklG' },
			{ type: 'audio', source: 'data' },
		],
		[
			'data whose kind stands in it in capitals',
			{ source: 'data', data: 'data:Audio/WAV;base64,UklG' },
			{ type: 'audio', source: 'data' },
		],
		[
			'a file of the item',
			{ source: 'binary', type: 'image', binaryPropertyName: 'photo' },
			{ type: 'image', source: 'data', value: DATA },
		],
		[
			'a file of the item, which says its kind',
			{ source: 'binary', binaryPropertyName: 'photo' },
			{ type: 'image', source: 'data', value: DATA },
		],
	])('is sent as the service takes it: %s', async (_, input, wire) => {
		const inputs = await (await reading([input]).load())();
		expect(inputs).toEqual([expect.objectContaining(wire)]);
		expect(Object.keys(inputs[0]).sort()).toEqual(['source', 'type', 'value']);
	});

	it('keeps its place among the others', async () => {
		const urls = ['a', 'b', 'c'].map((name) => `https://example.com/${name}.png`);
		const inputs = await (await reading(urls.map((url) => ({ source: 'url', url }))).load())();
		expect(inputs.map(({ value }) => value)).toEqual(urls);
	});

	it('is absent if none is given', async () => {
		expect(await (await inputsOf(contextOf().step))()).toEqual([]);
	});

	it.each<[string, IDataObject, RegExp]>([
		[
			'a URL that is none',
			{ source: 'url', url: 'a.png' },
			/^Reference File 2: URL must be .*"a\.png"/,
		],
		['no URL', { source: 'url' }, /^Reference File 2: URL is empty/],
		['data that is none', { source: 'data', data: 'iVBO' }, /^Reference File 2: Data URI must be/],
		[
			'data of a kind that the service does not take',
			{ source: 'data', data: 'data:text/html;base64,PGI+' },
			/^Reference File 2: Type must be .*"text"/,
		],
		[
			'a kind that the service does not take',
			{ url: 'https://example.com/a', type: 'model' },
			/^Reference File 2: Type must be .*"model"/,
		],
		[
			'a file that the item does not have',
			{ source: 'binary', binaryPropertyName: 'film' },
			/^Reference File 2: the item has no binary field "film"/,
		],
		['a file without a name', { source: 'binary' }, /^Reference File 2: Input Binary Field is/],
	])('is rejected before anything is read: %s', async (_, input, message) => {
		const { read, load } = reading([{ url: 'https://example.com/a.png' }, input]);
		await expect(load()).rejects.toThrow(InvalidInputError);
		await expect(load()).rejects.toThrow(message);
		expect(read).toEqual([]);
	});

	it('is not read if its known size is too large to be sent inline', async () => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		const { read, load } = reading([input], { bytes: MAX_INLINE_BYTES + 1 });
		await expect(load()).rejects.toThrow('Reference File 1: the service cannot fetch the file');
		expect(read).toEqual([]);
	});

	it.each<[string, Partial<IBinaryData>]>([
		['as it says', { bytes: 0 }],
		['as it is', {}],
	])('is rejected before it is read if it is empty: %s', async (_, file) => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		const { read, load } = reading([input], file, Buffer.alloc(0));
		await expect(load()).rejects.toThrow('Reference File 1 is an empty file');
		expect(read).toEqual([]);
	});

	it('is never sent empty, for any declared size', async () => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		const stored = { id: 'filesystem-v2:1', data: 'filesystem-v2' };
		const load = async () => await (await reading([input], stored, Buffer.alloc(0)).load())();
		await expect(load()).rejects.toThrow('Reference File 1 is an empty file');
	});

	it.each([
		['audio/ogg; codecs=opus', 'audio', 'data:audio/ogg;base64,'],
		['image/png;charset=binary', 'image', 'data:image/png;base64,'],
		['Image/PNG', 'image', 'data:image/png;base64,'],
	])('has the plain type of its file: %s', async (mimeType, type, head) => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		const [sent] = await (await reading([input], { mimeType }).load())();
		expect(sent).toMatchObject({ type, value: expect.stringMatching(`^${head}`) as string });
	});

	it('is never sent inline if too large, for any declared size', async () => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		const large = Buffer.alloc(MAX_INLINE_BYTES + 1);
		const stored = { id: 'filesystem-v2:1', data: 'filesystem-v2' };
		const load = async () => await (await reading([input], stored, large).load())();
		await expect(load()).rejects.toThrow('Reference File 1: the service cannot fetch the file');
	});

	it('is read when it is the item’s turn, not before', async () => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		const { read, load } = reading([input], { id: 'filesystem-v2:1', data: 'filesystem-v2' });
		const inputs = await load();
		expect(read).toEqual([]);
		await inputs();
		expect(read).toEqual(['photo']);
	});

	it('written inline is read again when it is the item’s turn, and not kept until then', async () => {
		const parameters = { referenceInputs: { input: [{ source: 'data', data: DATA }] } };
		const load = await inputsOf(contextOf({ parameters }).step);
		const later = 'data:image/png;base64,AAAA';
		parameters.referenceInputs.input[0].data = later;
		expect(await load()).toEqual([{ type: 'image', source: 'data', value: later }]);
	});

	it.each([{}, { type: 'image' }])(
		'that is a file of unknown type is rejected: %j',
		async (type) => {
			const input = { source: 'binary', binaryPropertyName: 'photo', ...type };
			await expect(reading([input], { mimeType: undefined }).load()).rejects.toThrow(
				'Reference File 1: the file has no MIME type',
			);
		},
	);

	it('that is a file of a type the service does not accept is rejected', async () => {
		const input = { source: 'binary', binaryPropertyName: 'photo' };
		await expect(reading([input], { mimeType: 'application/pdf' }).load()).rejects.toThrow(
			'Reference File 1: Type must be one of image, video, audio, not "application"',
		);
	});
});
