import type { ServiceResponse } from '../../client/ports';
import { withoutKeys } from '../../nodes/shared/http/transport';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { BinaryDataService } from 'n8n-core';

import { wallClock } from '../../nodes/shared/http/clock';
import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { sleepToEnd } from './asleep';
import { files, filesNodes } from './files-node';
import { openKeyedStage } from './keyed';
import { byId, openStage, prompts } from './stage';

/** Files of items that the service fetches from n8n by a signed URL. */

const publicUrl = 'https://n8n.example.com/';
const SIGNED = /^https:\/\/n8n\.example\.com\/rest\/binary-data\/signed\?token=[\w.-]+$/;
const picture = (bytes = 10) => ({ name: 'a.png', mimeType: 'image/png', bytes });
const fromFile: INodeParameters = { imageSource: 'binary' };
const quick = { waitForCompletion: false };
const given = (file: IDataObject, prompt = 'A boat') => ({ prompt, files: { data: file } });
const inItem = (bytes: number): INodeExecutionData => ({
	json: { prompt: 'A boat' },
	binary: { data: { data: Buffer.alloc(bytes, 7).toString('base64'), mimeType: 'image/png' } },
});
const usual: INodeParameters = {
	model: byId('aurora-motion-1'),
	prompt: '={{ $json.prompt }}',
	resolution: '480p',
	duration: 0.1,
};
const overLimit = 4.5 * 1024 * 1024 + 1;
const reference = {
	model: byId('aurora-image-1'),
	referenceInputs: { input: [{ source: 'binary', type: '', binaryPropertyName: 'data' }] },
};

describe('the file of an item as the first frame of a video', () => {
	const { stage, rows } = openKeyedStage({ publicUrl, extraNodes: filesNodes });
	const urlsSent = () => stage.bodies.map((body) => String(body.image_url));

	it('is fetched by a URL of n8n that works without a login', async () => {
		const parameters = { ...quick, ...fromFile };
		const run = await stage.run('videoGeneration', parameters, {
			items: [given(picture(12))],
			before: [files],
		});
		expect(run.error).toBeUndefined();
		const [url] = urlsSent();
		expect(url).toMatch(SIGNED);
		expect(await run.signedFile(url)).toEqual(Buffer.alloc(12, 7));
	});

	it('may be in another field, which an expression names or returns', async () => {
		const before = [files];
		const list = [{ prompt: 'A boat', files: { frame: picture(8) }, field: 'frame' }];
		for (const imageBinaryField of ['frame', '={{ $json.field }}', '={{ $binary.frame }}']) {
			const parameters = { ...quick, ...fromFile, imageBinaryField };
			const run = await stage.run('videoGeneration', parameters, { items: list, before });
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

	it('is not sent where the source is a URL', async () => {
		const parameters = {
			...quick,
			imageUrl: 'https://example.com/a.png',
			imageBinaryField: 'none',
		};
		const run = await stage.run('videoGeneration', parameters, { items: prompts('A boat') });
		expect(run.error).toBeUndefined();
		expect(urlsSent()).toEqual(['https://example.com/a.png']);
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
		['a sound', {}, { ...picture(), mimeType: 'audio/mpeg' }, 'must be an image, not "audio/mpeg"'],
		['another source', { imageSource: 'disk' }, picture(), 'must be one of url, binary'],
	])('with %s is refused before anything is sent', async (_, more, file, message) => {
		const parameters = { ...quick, ...fromFile, ...more };
		const items = [given(file)];
		const run = await stage.run('videoGeneration', parameters, { items, before: [files] });
		expect(run.error?.message).toContain(message);
		expect(stage.arrived).toBe(0);
	});

	it('that n8n has deleted is refused before anything is sent', async () => {
		const gone = { data: 'filesystem-v2', id: 'filesystem-v2:gone', mimeType: 'image/png' };
		const items = [{ json: { prompt: 'A boat' }, binary: { data: gone } }];
		const run = await stage.run('videoGeneration', { ...quick, ...fromFile }, { items });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('Input Image could not be read') as string,
			context: { code: 'invalid_input', itemIndex: 0 },
		});
		expect(stage.arrived).toBe(0);
	});

	it('that one item lacks does not keep the others from their videos', async () => {
		const items = [given(picture()), { prompt: 'A ship', files: {} }];
		const settings = { onError: 'continueRegularOutput' as const };
		const parameters = { ...quick, ...fromFile };
		const run = await stage.run('videoGeneration', parameters, {
			items,
			before: [files],
			settings,
		});
		expect(run.output('Step').map(({ json }) => json.error_code ?? json.status)).toEqual([
			'pending',
			'invalid_input',
		]);
	});

	it('has a URL that was signed when the request left, after a wait of hours for a slot', async () => {
		const signedAt = new Map<string, number>();
		const sign = BinaryDataService.prototype.createSignedToken;
		const spied = jest.spyOn(BinaryDataService.prototype, 'createSignedToken');
		spied.mockImplementation(function (this: BinaryDataService, ...given) {
			const token = `${sign.apply(this, given)}${signedAt.size}`;
			signedAt.set(token, wallClock.now());
			return token;
		});
		stage.sandbox.service.occupy('main', 10);
		const runOptions = { timeout: 20_000 };
		const running = stage.run(
			'videoGeneration',
			{ ...quick, ...fromFile, runOptions },
			{ items: [given(picture())], before: [files] },
		);
		while (stage.sandbox.requests.on('create').length === 0) await stage.pass(0);
		for (let hours = 0; hours < 2; hours++) {
			await stage.pass(5);
			stage.leap(3600);
		}
		stage.sandbox.service.occupy('main', 0);
		const freeAt = wallClock.now();
		expect((await running).error).toBeUndefined();
		const token = new URL(urlsSent()[0]).searchParams.get('token') ?? '';
		expect(signedAt.get(token)).toBeGreaterThan(freeAt - 300_000);
		spied.mockRestore();
	});

	it('is the same request when it is sent again, and is charged once', async () => {
		stage.sandbox.faults.order({
			on: 'create',
			action: { kind: 'error', code: 'service_unavailable' },
		});
		const settings = { retryOnFail: true, maxTries: 2 };
		const items = [given(picture(), 'A boat'), given(picture(), 'A ship [fail]')];
		const run = await stage.run('videoGeneration', fromFile, { items, before: [files], settings });
		expect(run.error?.message).toContain('failed');
		expect(stage.sandbox.books.liveChargesFor('A boat')).toBe(1);
	});

	it('with a key counts as a changed request only if it is another file', async () => {
		const parameters = {
			...usual,
			...fromFile,
			options: { idempotencyKey: '={{ $json.prompt }}' },
		};
		const step = ownNode('Step', 'videoGeneration', parameters, { id: 'n' });
		const stored = await stage.runWorkflow(inARow(files), {
			items: [given(picture()), given(picture())],
		});
		const [one, other] = stored
			.output('Files')
			.map(({ binary }) => ({ json: { prompt: 'A boat' }, binary }));
		const execute = async (item: INodeExecutionData) => {
			const run = await stage.runWorkflow({ ...inARow(step), id: 'w' }, { items: [item] });
			expect(run.error?.message).toBeUndefined();
			stage.leap(1200);
			return JSON.stringify(run.hints('Step'));
		};
		expect(await execute(one)).not.toContain('the prompt or a setting');
		expect(await execute(one)).not.toContain('the prompt or a setting');
		expect(await execute(other)).toContain('the prompt or a setting is different');
		expect(stage.sandbox.books.totals.created).toBe(1);
		expect(JSON.stringify(rows())).not.toContain('token');
	});

	it('of a sleeping batch belongs to the execution that sleeps, and is signed by the wave that sends it', async () => {
		const list = [0, 1, 2].map((index) => ({
			json: { key: `k${index}`, prompt: `boat ${index} [seconds: 300]` },
			binary: inItem(20 + index).binary,
		}));
		const parameters = {
			...usual,
			...fromFile,
			options: { idempotencyKey: '={{ $json.key }}' },
			runOptions: { whileWaiting: 'suspend', maxConcurrent: 1 },
		};
		const step = ownNode('Step', 'videoGeneration', parameters, { id: 'n' });
		const workflow = { ...inARow(step), id: 'the-workflow' };
		const asleep = await stage.runWorkflow(workflow, { items: list });
		expect(asleep.status).toBe('waiting');
		const end = await sleepToEnd(stage, asleep);
		expect([end.error?.message, end.status]).toEqual([undefined, 'success']);
		for (const [index, url] of urlsSent().entries()) {
			expect(await end.signedFile(url)).toHaveLength(20 + index);
			const token = new URL(url).searchParams.get('token') ?? '';
			const [, claims] = token.split('.');
			const { id } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { id: string };
			expect(id).toContain(`/executions/${asleep.executionId}/`);
		}
		expect(JSON.stringify(rows())).not.toContain('token');
		expect(JSON.stringify(end.hints('Step'))).not.toContain('the prompt or a setting');
	});

	it('is in no error, although the service quotes its URL', async () => {
		let quoted = '';
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
		const parameters = { ...quick, ...fromFile };
		const run = await stage.run('videoGeneration', parameters, {
			items: [given(picture())],
			before: [files],
		});
		quoted = JSON.stringify([run.error, run.logs, run.hints('Step')]);
		expect(run.error?.message).toContain('Could not fetch [signed URL] 404');
		expect(quoted).not.toContain('token=');
		const reason = `${publicUrl}rest/binary-data/signed?token=ey.J0.eX is gone`;
		const failed = await stage.run('videoGeneration', fromFile, {
			items: [given(picture(), `A boat [fail: ${reason}]`)],
			before: [files],
		});
		expect(failed.error?.message).toContain('[signed URL] is gone');
	});

	it.each([
		'https:\\/\\/n8n.example\\/rest\\/binary-data\\/signed?token=ey.J0.eX',
		'https%3A%2F%2Fn8n.example%2Frest%2Fbinary-data%2Fsigned%3Ftoken%3Dey.J0.eX',
		'GET /rest/binary-data/signed?token=ey.J0.eX',
	])('is cut from an error in any encoding: %s', (quoted) => {
		const body = { error: { message: `Could not fetch ${quoted} 404` } };
		const cut = JSON.stringify(withoutKeys({ status: 400, body } as ServiceResponse, new Set()));
		expect(cut).not.toContain('ey.J0.eX');
		expect(cut).toContain('[signed URL] 404');
	});

	it('is not written to the log', async () => {
		const run = await stage.run('videoGeneration', fromFile, {
			items: [given(picture())],
			before: [files],
		});
		expect(run.error).toBeUndefined();
		expect(JSON.stringify([run.logs, run.hints('Step'), run.output('Step')])).not.toContain(
			'token=',
		);
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

	it('whose size n8n does not know is fetched by a signed URL, too', async () => {
		const unknownSize: INodeParameters = {
			...quick,
			...reference,
			referenceInputs: {
				input: [
					{ source: 'binary', binaryPropertyName: '={{ { ...$binary.data, bytes: undefined } }}' },
				],
			},
		};
		const run = await stage.run('imageGeneration', unknownSize, {
			items: [given(picture(overLimit))],
			before: [files],
		});
		expect(run.error).toBeUndefined();
		expect((stage.bodies[0].inputs as IDataObject[])[0].value).toMatch(SIGNED);
	});

	it('that is pasted as data is refused, with what to do', async () => {
		const data = `data:image/png;base64,${Buffer.alloc(overLimit).toString('base64')}`;
		const parameters = {
			...quick,
			...reference,
			referenceInputs: { input: [{ source: 'data', data }] },
		};
		const run = await stage.run('imageGeneration', parameters, { items: prompts('A boat') });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('too large') as string,
			description: expect.stringContaining('Binary Field') as string,
		});
		expect(stage.arrived).toBe(0);
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

	it('a small reference file is sent as ever', async () => {
		const run = await stage.run(
			'imageGeneration',
			{ ...quick, ...reference },
			{
				items: [given(picture())],
				before: [files],
			},
		);
		expect([run.error, stage.bodies.length]).toEqual([undefined, 1]);
	});
});

describe('an n8n that keeps files in memory', () => {
	const stage = openStage({ publicUrl, binaryMode: 'memory' });

	it('cannot give the service a URL, and the error says what to set', async () => {
		const parameters = { ...quick, ...fromFile };
		const run = await stage.run('videoGeneration', parameters, { items: [inItem(9)] });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('n8n cannot give the service a URL of the file') as string,
			description: expect.stringContaining('N8N_DEFAULT_BINARY_DATA_MODE') as string,
			context: { code: 'invalid_input' },
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
		const run = await stage.run(
			'videoGeneration',
			{ ...quick, ...fromFile },
			{
				items: [given(picture())],
				before: [files],
			},
		);
		spied.mockRestore();
		expect(run.error).toMatchObject({
			message: expect.stringContaining('a URL of the file: Not in this engine') as string,
			description: expect.stringContaining('set Input Image to URL') as string,
			context: { code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});
});
