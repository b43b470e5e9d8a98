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

	it('is nothing if there are no items, and nothing is sent', async () => {
		const run = await stage.run('imageGeneration', {}, { items: [] });
		expect([run.status, run.output('Step'), stage.arrived]).toEqual(['success', [], 0]);
	});
});
