import type { IBinaryData, IDataObject, INodeParameters } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { files, filesNodes } from './files-node';
import type { GivenFile } from './files-node';
import { byId, openStage } from './stage';

const capable = { waitForCompletion: false, model: byId('aurora-image-1') };
const input = (...entries: INodeParameters[]) => ({ referenceInputs: { input: entries } });

describe.each(['filesystem', 'memory'] as const)('reference files, stored in %s', (binaryMode) => {
	const stage = openStage({ binaryMode, extraNodes: filesNodes });
	const fromFile = (binaryPropertyName: string, type = '') => ({
		source: 'binary',
		type,
		binaryPropertyName,
	});

	async function runWith(given: Record<string, GivenFile>, ...entries: INodeParameters[]) {
		const items = [{ prompt: 'A boat', files: given as unknown as IDataObject }];
		return await stage.run(
			'imageGeneration',
			{ ...capable, ...input(...entries) },
			{
				items,
				before: [files],
			},
		);
	}

	it('are sent inline, of the type that their MIME type states unless another is chosen', async () => {
		const given = {
			picture: { name: 'a.png', mimeType: 'image/png', bytes: 3 },
			clip: { name: 'b.mp4', mimeType: 'video/mp4', bytes: 4 },
			sound: { name: 'c.mp3', mimeType: 'audio/mpeg', bytes: 5 },
			unknown: { name: 'd.bin', mimeType: 'application/octet-stream', bytes: 6 },
		};
		const run = await runWith(
			given,
			fromFile('picture'),
			fromFile('clip'),
			fromFile('sound'),
			fromFile('unknown', 'image'),
		);
		expect(run.error).toBeUndefined();
		const sevens = (count: number) => Buffer.alloc(count, 7).toString('base64');
		expect(stage.bodies[0].inputs).toEqual([
			{ type: 'image', source: 'data', value: `data:image/png;base64,${sevens(3)}` },
			{ type: 'video', source: 'data', value: `data:video/mp4;base64,${sevens(4)}` },
			{ type: 'audio', source: 'data', value: `data:audio/mpeg;base64,${sevens(5)}` },
			{ type: 'image', source: 'data', value: `data:application/octet-stream;base64,${sevens(6)}` },
		]);
	});

	it('come from the item itself, from the field that its expression names', async () => {
		const file = (mimeType: string, bytes: number) => ({ name: 'a', mimeType, bytes });
		const items = [
			{
				prompt: 'A boat',
				field: 'one',
				files: { one: file('image/png', 3), two: file('image/gif', 4) },
			},
			{
				prompt: 'A ship',
				field: 'two',
				files: { one: file('video/mp4', 5), two: file('audio/mpeg', 6) },
			},
		];
		const parameters = { ...capable, ...input(fromFile('={{ $json.field }}')) };
		const run = await stage.run('imageGeneration', parameters, { items, before: [files] });
		expect(run.error).toBeUndefined();
		const sevens = (count: number) => Buffer.alloc(count, 7).toString('base64');
		const inputsOf = (prompt: string) =>
			stage.bodies.find((body) => body.prompt === prompt)?.inputs;
		expect(inputsOf('A boat')).toEqual([
			{ type: 'image', source: 'data', value: `data:image/png;base64,${sevens(3)}` },
		]);
		expect(inputsOf('A ship')).toEqual([
			{ type: 'audio', source: 'data', value: `data:audio/mpeg;base64,${sevens(6)}` },
		]);
	});

	it.each([
		['no such field', fromFile('other'), 'the item has no binary field "other"'],
		['no field named', fromFile(''), 'Input Binary Field is empty'],
		[
			'no known type',
			fromFile('data'),
			'the kind of file could not be detected from its MIME type application',
		],
	])('with %s are refused before anything is sent', async (_case, entry, message) => {
		const data = { name: 'a.bin', mimeType: 'application/octet-stream', bytes: 3 };
		const run = await runWith({ data }, entry);
		expect(run.error?.message).toContain(`Reference File 1: ${message}`);
		expect(stage.arrived).toBe(0);
	});

	it.each([
		['n8n has deleted', { data: 'filesystem-v2', id: 'filesystem-v2:gone' }, 'File not found'],
		['is in a storage that n8n no longer uses', { data: 's3', id: 's3:gone' }, 's3'],
	])('that %s are an error of the item, and not a bug of the node', async (_case, gone, reason) => {
		const items = [
			{ json: { prompt: 'A boat' }, binary: { data: { ...gone, mimeType: 'image/png' } } },
		];
		const parameters = { ...capable, ...input(fromFile('data')) };
		const run = await stage.run('imageGeneration', parameters, { items });
		expect(run.error).toMatchObject({
			message: expect.stringMatching(
				`^Reference File 1 could not be read from n8n’s storage: .*${reason}`,
			) as string,
			description: expect.stringContaining('Run the node that creates the file again') as string,
			context: { itemIndex: 0, code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});
});

describe('a reference file of an item', () => {
	const stage = openStage();
	const seven = Buffer.alloc(3, 7).toString('base64');
	const entry = { source: 'binary', binaryPropertyName: 'photo' };
	const itemWith = (photo: Partial<IBinaryData>, prompt = 'A boat') => ({
		json: { prompt },
		binary: { photo: { data: seven, ...photo } as IBinaryData },
	});

	it.each<[string, Partial<IBinaryData>, IDataObject?]>([
		['the kind of file could not be detected from its MIME type application', {}],
		[
			'the kind of file could not be detected from its MIME type application',
			{ mimeType: 'application/pdf' },
		],
		[' is an empty file', { mimeType: 'image/png', data: '' }],
		[' is an empty file', { mimeType: 'image/png', bytes: 0 }],
	])('is refused before anything is sent: %s, %j', async (message, photo, type = {}) => {
		const parameters = { ...capable, ...input({ ...entry, ...type } as INodeParameters) };
		const run = await stage.run('imageGeneration', parameters, { items: [itemWith(photo)] });
		expect(run.error?.message).toMatch(/^Reference File 1/);
		expect(run.error?.message).toContain(message);
		expect(stage.arrived).toBe(0);
	});
});

describe('reference files in a workflow that keeps them within the JSON', () => {
	const stage = openStage({ extraNodes: filesNodes });
	const data = { name: 'a.png', mimeType: 'image/png', bytes: 3 };

	it.each([
		['the name of the field', 'data'],
		['its path', '_files.data'],
	])('are found by %s', async (_, binaryPropertyName) => {
		const entry = { source: 'binary', type: '', binaryPropertyName };
		const step = ownNode('Step', 'imageGeneration', {
			...capable,
			...input(entry),
			prompt: 'A boat',
		});
		const workflow = { ...inARow(files, step), settings: { binaryMode: 'combined' as const } };
		const items = [{ files: { data } as unknown as IDataObject }];
		const run = await stage.runWorkflow(workflow, { items });
		expect(run.error).toBeUndefined();
		const [reference] = stage.bodies[0].inputs as IDataObject[];
		expect(reference).toEqual({
			type: 'image',
			source: 'data',
			value: `data:image/png;base64,${Buffer.alloc(3, 7).toString('base64')}`,
		});
	});
});
