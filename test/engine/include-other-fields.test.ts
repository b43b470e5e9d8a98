import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import { NOTHING_KNOWN } from '../support/answers';
import { ownNode } from '../support/workflow';
import { wakeThrough } from './asleep';
import { binaryOf, byId, openStage } from './stage';

const stage = openStage();

const include = { options: { includeOtherFields: true } };
const urlOnly = { ...include, downloadOutput: false };
const continues = { onError: 'continueRegularOutput' as const };
const apart = { onError: 'continueErrorOutput' as const };

/** Rows of a table whose own columns have the names of a generation's keys. */
const rows = [
	{ prompt: 'a boat', sku: 'B-1', id: 'row 1', status: 'new', url: 'https://example.com/b-1' },
	{ prompt: 'a ship', sku: 'S-2', id: 'row 2', status: 'old', url: 'https://example.com/s-2' },
];
const sheet = { data: 'aGVsbG8=', mimeType: 'text/csv', fileName: 'sheet.csv' };
const photo = { data: 'aGVsbG8=', mimeType: 'image/png', fileName: 'photo.png' };
const withFiles = (json: IDataObject): INodeExecutionData => ({ json, binary: { sheet, photo } });

/** The rows with the generation of each in a field of its own. */
const generated = (field = 'generation') =>
	rows.map((row, index) => ({
		...row,
		[field]: stage.promised(stage.sandbox.books.generations[index]),
	}));

describe('Include Other Input Fields', () => {
	it('returns the input item unchanged, with the generation in one field', async () => {
		const run = await stage.run('imageGeneration', urlOnly, { items: rows });
		expect(run.output('Step').map(({ json }) => json)).toEqual(generated());
	});

	it.each<[string, INodeExecutionData['binary']]>([
		['data', { sheet, photo }],
		['photo', { sheet }],
	])(
		'keeps the files of the item, except one in the field of its output: %s',
		async (into, kept) => {
			const parameters = { options: { ...include.options, binaryPropertyName: into } };
			const items = rows.map(withFiles);
			const run = await stage.run('imageGeneration', parameters, { items });
			for (const item of run.output('Step')) {
				const file = binaryOf(item, into);
				expect(file.fileName).toMatch(/^a-(boat|ship)-\w{8}\.png$/);
				expect(item.binary).toEqual({ ...kept, [into]: file });
			}
		},
	);

	it('is off by default', async () => {
		const items = rows.map(withFiles);
		const run = await stage.run('imageGeneration', { downloadOutput: false }, { items });
		const [{ json, binary }] = run.output('Step');
		expect([json.sku, json.generation, binary]).toEqual([undefined, undefined, undefined]);
	});

	it.each([['a name that is undefined', { generationField: '={{ $json.mistyped }}' }]])(
		'rejects %s for the field of the generation, before anything is charged',
		async (_, field) => {
			const parameters = { options: { includeOtherFields: true, ...field } };
			const run = await stage.run('imageGeneration', parameters, { items: rows });
			expect(run.error).toMatchObject({
				message: expect.stringContaining('Put Generation in Field') as string,
				context: { code: 'invalid_input' },
			});
			expect(stage.arrived).toBe(0);
		},
	);
});

describe('failed and invalid items with Include Other Input Fields', () => {
	const items = [
		{ ...rows[0], prompt: 'a boat [fail: no paint]' },
		rows[1],
		{ prompt: '', sku: 'E-3', id: 'row 3' },
	];
	const failure = {
		error: expect.stringContaining('no paint') as string,
		error_code: 'generation_failed',
	};
	const invalid = {
		error: expect.stringContaining('Prompt is empty') as string,
		error_code: 'invalid_input',
	};
	const expected = () => {
		const [failed, completed] = stage.sandbox.books.generations;
		return [
			{ ...items[0], generation: stage.promised(failed), ...failure },
			{ ...items[1], generation: stage.promised(completed) },
			{ ...items[2], generation: NOTHING_KNOWN, ...invalid },
		];
	};

	it('go to the error output with the generation in its field', async () => {
		const run = await stage.run('imageGeneration', urlOnly, {
			items: items.map(withFiles),
			settings: apart,
		});
		const [failed, completed, empty] = expected();
		expect(run.output('Step', 0).map(({ json }) => json)).toEqual([completed]);
		expect(run.output('Step', 1)).toEqual([
			{ json: failed, binary: { sheet, photo }, pairedItem: { item: 0 } },
			{ json: empty, binary: { sheet, photo }, pairedItem: { item: 2 } },
		]);
	});
});

describe('input items with an error field of their own', () => {
	const noted = rows.map((row) => ({ ...row, error: 'of an earlier step', error_code: 'theirs' }));

	it('lose it on success, so that no success looks like a failure, and n8n does not retry the step', async () => {
		const settings = { retryOnFail: true, waitBetweenTries: 0 };
		const run = await stage.run('imageGeneration', urlOnly, { items: noted, settings });
		expect(run.output('Step').map(({ json }) => json)).toEqual(generated());
		// A second run would say that it has reused both.
		expect(run.hints('Step')).toEqual([]);
	});
});

describe('Include Other Input Fields in Wait for Completion', () => {
	it.each(['poll', 'check'])('keeps the item whole: %s', async (mode) => {
		const generation = { id: await stage.made('a boat') };
		const items = [withFiles({ ...rows[0], generation })];
		const parameters = { ...urlOnly, mode };
		const run = await stage.run('waitForCompletion', parameters, { items });
		expect(run.output('Step')).toMatchObject([
			{ json: { ...rows[0], generation }, binary: { sheet, photo } },
		]);
		expect(run.output('Step')[0].json).toHaveProperty('generation.type', 'image');
	});

	it('works in a suspended wait, after it has resumed', async () => {
		const id = await stage.made('a boat [seconds: 900]');
		const own = { ...rows[0], error: 'of an earlier step', error_code: 'timeout' };
		const items = [withFiles({ ...own, generation: { id } })];
		const asleep = await stage.run('waitForCompletion', { ...include, mode: 'suspend' }, { items });
		expect(asleep.status).toBe('waiting');
		stage.sandbox.service.finish(id);
		const [{ json, binary }] = (await wakeThrough(stage, asleep)).output('Step');
		expect(json).toEqual({
			...rows[0],
			generation: stage.promised(stage.sandbox.books.generations[0]),
		});
		expect(binary).toMatchObject({ sheet, photo, data: { mimeType: 'image/png' } });
	});
});

describe('Wait for Completion finds the generation of an item by itself', () => {
	const model = byId('lumen-turbo');
	const parameters = { model, prompt: '={{ $json.prompt }}' };
	const image = (own: IDataObject) => ({ ...parameters, ...own, waitForCompletion: false });

	it('returns an error for an item without a generation, and does not look for its own ID', async () => {
		const create = ownNode('Image', 'imageGeneration', image(include), continues);
		const wait = ownNode('Step', 'waitForCompletion', urlOnly, continues);
		const items = [{ ...rows[0], prompt: 'a boat [reject: invalid_parameter]' }, rows[1]];
		const run = await stage.runWorkflow(inARow(create, wait), { items });
		expect(run.output('Step').map(({ json }) => json)).toMatchObject([
			{ ...items[0], generation: NOTHING_KNOWN, error_code: 'invalid_input' },
			{ ...items[1], generation: { status: 'completed' } },
		]);
		expect(stage.sandbox.requests.on('status').some(({ path }) => path.includes('row'))).toBe(
			false,
		);
	});
});
