import { ONLY_ID_KNOWN } from '../support/answers';
import { binaryOf, openStage, prompts, sha256 } from './stage';

const MEDIA = [
	{ node: 'imageGeneration', type: 'image', extension: 'png' },
	{ node: 'videoGeneration', type: 'video', extension: 'mp4' },
];

describe.each(['filesystem', 'memory'] as const)('the file, stored in %s', (binaryMode) => {
	const stage = openStage({ binaryMode });

	describe.each(MEDIA)('of $node', ({ node, type, extension }) => {
		it('is the exact file of the service, under a matching name', async () => {
			const run = await stage.run(node, {}, { items: prompts('A lighthouse') });
			const [made] = stage.sandbox.books.generations;
			const [item, ...others] = run.output('Step');
			expect(others).toEqual([]);
			expect(item.json).toStrictEqual(stage.promised({ ...made, state: 'completed' }));
			expect(Object.keys(item.binary ?? {})).toEqual(['data']);
			const field = binaryOf(item);
			const served = await stage.served(made.id);
			expect(field).toMatchObject({
				fileName: `a-lighthouse-${made.id.slice(0, 8)}.${extension}`,
				fileExtension: extension,
				fileType: type,
				mimeType: `${type}/${extension}`,
				bytes: served.length,
			});
			expect(Boolean(field.id)).toBe(binaryMode === 'filesystem');
			expect(sha256(await run.binary(field))).toBe(sha256(served));
		});

		it('is in the chosen binary field, under the chosen name', async () => {
			const parameters = {
				options: { binaryPropertyName: '={{ $json.field }}', fileName: '={{ $json.name }}' },
			};
			const items = [
				{ prompt: 'one', field: 'picture', name: 'lighthouse' },
				{ prompt: 'two', field: 'boat', name: '' },
			];
			const run = await stage.run(node, parameters, { items });
			const [one, two] = run.output('Step');
			const id = String(two.json.id).slice(0, 8);
			expect(binaryOf(one, 'picture').fileName).toBe(`lighthouse.${extension}`);
			expect(binaryOf(two, 'boat').fileName).toBe(`two-${id}.${extension}`);
		});
	});
});

describe('the output', () => {
	const stage = openStage();

	describe.each(MEDIA)('of $node', ({ node }) => {
		it('is the pending generation, immediately, if the step does not wait', async () => {
			const parameters = { waitForCompletion: false };
			const run = await stage.run(node, parameters, { items: prompts('one', 'two') });
			expect(run.output('Step')).toStrictEqual(
				stage.sandbox.books.generations.map((made, item) => ({
					json: stage.promised({ ...made, state: 'pending' }),
					pairedItem: { item },
				})),
			);
			expect(stage.sandbox.requests.on('status')).toEqual([]);
			expect(stage.sandbox.requests.on('download')).toEqual([]);
		});

		it('is the completed generation without a file if the step does not download', async () => {
			const parameters = { downloadOutput: false };
			const run = await stage.run(node, parameters, { items: prompts('one') });
			const [made] = stage.sandbox.books.generations;
			expect(run.output('Step')).toStrictEqual([
				{ json: stage.promised({ ...made, state: 'completed' }), pairedItem: { item: 0 } },
			]);
			expect(stage.sandbox.requests.on('download')).toEqual([]);
		});
	});

	it('keeps the order and pairing of the items, no matter which is ready first', async () => {
		const texts = ['[seconds: 9] slow', '[seconds: 1] quick', '[seconds: 5] middling'];
		const run = await stage.run('imageGeneration', {}, { items: prompts(...texts) });
		const idOf = (prompt: string) =>
			stage.sandbox.books.generations.find((made) => made.prompt === prompt)?.id;
		expect(run.output('Step').map(({ json, pairedItem }) => [json.id, pairedItem])).toEqual(
			texts.map((prompt, item) => [idOf(prompt), { item }]),
		);
		for (const item of run.output('Step')) {
			const served = await stage.served(String(item.json.id));
			expect(sha256(await run.binary(binaryOf(item)))).toBe(sha256(served));
		}
	});

	it('has every key, and null for what the service leaves out', async () => {
		const answers = [
			{ id: 'one' },
			{
				id: 'two',
				created: 1,
				data: [{ url: 'https://example.com/a', revised_prompt: 'A boat.' }],
			},
		];
		for (const body of answers) {
			stage.sandbox.faults.order({ on: 'create', action: { kind: 'respond', status: 200, body } });
		}
		const parameters = { waitForCompletion: false, runOptions: { maxConcurrent: 1 } };
		const run = await stage.run('imageGeneration', parameters, { items: prompts('one', 'two') });
		expect(run.output('Step').map(({ json }) => json)).toStrictEqual([
			{ ...ONLY_ID_KNOWN, id: 'one' },
			{
				...ONLY_ID_KNOWN,
				id: 'two',
				created: 1,
				url: 'https://example.com/a',
				revised_prompt: 'A boat.',
			},
		]);
	});

	it('is nothing if there are no items, and nothing is sent', async () => {
		const run = await stage.run('imageGeneration', {}, { items: [] });
		expect([run.status, run.output('Step'), stage.arrived]).toEqual(['success', [], 0]);
	});

	it.each([
		['folders', '../../etc/pass\\wd', '-..-etc-pass-wd.png'],
		['reserved characters', 'a:b*c?"<d>|e', 'a-b-c---d--e.png'],
		['control characters', 'a\nb\u0000c\u202ed', 'abcd.png'],
		['nothing that can stay', ' ... ', 'output.png'],
		['the extension of another type', 'photo.jpg', 'photo.png'],
		['its own extension', 'photo.PNG', 'photo.png'],
		['a dot that is no extension', 'v1.5', 'v1.5.png'],
		['other scripts', 'Leuchtturm-灯台', 'Leuchtturm-灯台.png'],
		['more than a file system takes', 'é'.repeat(300), `${'é'.repeat(98)}.png`],
	])('makes a file name with %s safe', async (_case, fileName, expected) => {
		const parameters = { options: { fileName: '={{ $json.name }}' } };
		const items = [{ prompt: '[seconds: 0] one', name: fileName }];
		const run = await stage.run('imageGeneration', parameters, { items });
		expect(binaryOf(run.output('Step')[0]).fileName).toBe(expected);
	});
});
