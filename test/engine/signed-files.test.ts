/** Files of items that the service fetches from n8n by a signed URL. */
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';

import {
	animate,
	files,
	filesNodes,
	fromFile,
	given,
	inItem,
	picture,
	publicUrl,
	quick,
} from './files-node';
import { byId, openStage } from './stage';

const SIGNED = /^https:\/\/n8n\.example\.com\/rest\/binary-data\/signed\?token=[\w.-]+$/;
const overLimit = 4.5 * 1024 * 1024 + 1;
const reference = {
	model: byId('aurora-image-1'),
	referenceInputs: { input: [{ source: 'binary', type: '', binaryPropertyName: 'data' }] },
};

describe('the file of an item as the first frame of a video', () => {
	const stage = openStage({ publicUrl, extraNodes: filesNodes });
	const urlsSent = () => stage.bodies.map((body) => String(body.image_url));

	it('is fetched by a URL of n8n that works without a login', async () => {
		const run = await animate(stage, [given(picture(12))]);
		expect(run.error).toBeUndefined();
		const [url] = urlsSent();
		expect(url).toMatch(SIGNED);
		expect(await run.signedFile(url)).toEqual(Buffer.alloc(12, 7));
	});

	it('may be in another field, which an expression names', async () => {
		const list = [{ prompt: 'A boat', files: { frame: picture(8) }, field: 'frame' }];
		for (const imageBinaryField of ['frame', '={{ $json.field }}']) {
			const run = await animate(stage, list, { imageBinaryField });
			expect(run.error?.message).toBeUndefined();
			expect(await run.signedFile(urlsSent().at(-1) ?? '')).toHaveLength(8);
		}
	});

	it('is stored first if n8n holds it in the item only', async () => {
		const run = await stage.run(
			'videoGeneration',
			{ ...quick, ...fromFile },
			{ items: [inItem(9)] },
		);
		expect(run.error).toBeUndefined();
		expect(await run.signedFile(urlsSent()[0])).toEqual(Buffer.alloc(9, 7));
	});

	it.each([
		[
			'no such field',
			{ imageBinaryField: 'other' },
			picture(),
			'the item has no binary field "other"',
		],
		[
			'an empty name',
			{ imageBinaryField: '={{ null }}' },
			picture(),
			'Input Binary Field is empty',
		],
		['an empty file', {}, picture(0), 'is an empty file'],
		['another source', { imageSource: 'disk' }, picture(), 'must be one of binary, url'],
	])('with %s is refused before anything is sent', async (_, more, file, message) => {
		const run = await animate(stage, [given(file)], more);
		expect(run.error?.message).toContain(message);
		expect(stage.arrived).toBe(0);
	});

	it('has its token in no error, although the service quotes its URL', async () => {
		stage.sandbox.faults.order({
			on: 'create',
			action: {
				kind: 'respond',
				status: 400,
				body: {
					error: {
						code: 'invalid_parameter',
						message: `Could not fetch ${publicUrl}rest/binary-data/signed?token=ey.J0.eX: 404`,
						type: 'invalid_request',
						param: 'image_url',
					},
				},
			},
		});
		const run = await animate(stage, [given(picture())]);
		const quoted = JSON.stringify([run.error, run.logs, run.hints('Step')]);
		expect(run.error?.message).toMatch(/Could not fetch https.*token=…: 404/);
		expect(quoted).not.toContain('token=ey');
		const reason = `${publicUrl}rest/binary-data/signed?token=ey.J0.eX is gone`;
		const items = [given(picture(), `A boat [fail: ${reason}]`)];
		const failed = await animate(stage, items, { waitForCompletion: true });
		expect(failed.error?.message).toContain('token=… is gone');
	});
});

describe('a reference file above 4.5 MB', () => {
	const stage = openStage({ publicUrl, extraNodes: filesNodes });

	it('is fetched by a signed URL, and a smaller one is sent inline', async () => {
		const parameters = { ...quick, ...reference };
		const run = await stage.run('imageGeneration', parameters, {
			items: [given(picture(overLimit)), given(picture(3), 'A ship')],
			before: [files],
		});
		expect(run.error).toBeUndefined();
		const inputs = stage.bodies.map((body) => (body.inputs as IDataObject[])[0]);
		const [large] = inputs.filter(({ source }) => source === 'url');
		const [small] = inputs.filter(({ source }) => source === 'data');
		expect(large).toEqual({
			type: 'image',
			source: 'url',
			value: expect.stringMatching(SIGNED) as string,
		});
		expect(await run.signedFile(String(large.value))).toHaveLength(overLimit);
		expect(String(small.value)).toMatch(/^data:image\/png/);
	});
});

describe('without a public https address of n8n', () => {
	const stage = openStage({ extraNodes: filesNodes });

	it.each([
		['videoGeneration', fromFile, picture(), 'set Input Image to URL'],
		['imageGeneration', reference, picture(overLimit), 'at most 4.5 MB'],
	] as const)(
		'a file of %s is refused before anything is sent',
		async (type, parameters, file, instead) => {
			const run = await stage.run(
				type,
				{ ...quick, ...parameters },
				{
					items: [given(file)],
					before: [files],
				},
			);
			expect(run.error).toMatchObject({
				message: expect.stringContaining('n8n’s public address is not https') as string,
				description: expect.stringContaining('WEBHOOK_URL') as string,
				context: { code: 'invalid_input', itemIndex: 0 },
			});
			expect(String((run.error as { description?: string }).description)).toContain(instead);
			expect(stage.arrived).toBe(0);
		},
	);
});

describe('an n8n that keeps files in memory', () => {
	const stage = openStage({ publicUrl, extraNodes: filesNodes, binaryMode: 'memory' });

	it('cannot sign a URL: an error before anything is sent, with what to set', async () => {
		const run = await animate(stage, [given(picture())]);
		expect(run.error).toMatchObject({
			message: expect.stringContaining('n8n keeps files in memory') as string,
			description: expect.stringContaining('N8N_DEFAULT_BINARY_DATA_MODE') as string,
			context: { code: 'invalid_input', itemIndex: 0 },
		});
		expect(stage.arrived).toBe(0);
	});
});

describe('an n8n whose signing fails', () => {
	const stage = openStage({ publicUrl, extraNodes: filesNodes });

	it.each([
		['at once', 0],
		['when the request is due, so that nothing is sent and charged', 1],
	])('%s, is an error of the item that says what to do instead', async (_, works) => {
		const sign = BinaryDataService.prototype.createSignedToken;
		const spied = jest.spyOn(BinaryDataService.prototype, 'createSignedToken');
		let signed = 0;
		spied.mockImplementation(function (this: BinaryDataService, ...args) {
			if (signed++ >= works) throw new Error('Not in this engine');
			return sign.apply(this, args);
		});
		const run = await animate(stage, [given(picture())]);
		spied.mockRestore();
		expect(run.error).toMatchObject({
			message: expect.stringContaining('a URL of the file: Not in this engine') as string,
			description: expect.stringContaining('set Input Image to URL') as string,
			context: { code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});
});
