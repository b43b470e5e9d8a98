import type { IDataObject } from 'n8n-workflow';

import { inARow } from '../../tools/engine/in-a-row';
import { ownNode } from '../support/workflow';
import { binaryOf, byId, openStage, prompts, sha256 } from './stage';
import type { Stage } from './stage';

const idsOf = (...ids: string[]) => ids.map((id) => ({ id }));

/** Forgets the requests so far, so that only those of the step under test are seen. */
async function madeBefore(stage: Stage, ...texts: string[]): Promise<string[]> {
	const ids: string[] = [];
	for (const text of texts) ids.push(await stage.made(text));
	stage.sandbox.requests.clear();
	return ids;
}

describe('Wait for Completion', () => {
	const stage = openStage();
	const completed = (id: string) => {
		const entry = stage.sandbox.books.find(id);
		return entry && stage.promised({ ...entry, state: 'completed' });
	};

	it.each<[string, string, IDataObject]>([
		['of a row of the data table', 'a-harbor-at-dawn', { id: 7 }],
		['that is no text', 'lumen-turbo', { prompt: 7 }],
	])('names a file after the prompt %s', async (_, name, own) => {
		const [id] = await madeBefore(stage, 'a boat');
		const items = [{ prompt: 'A harbor at dawn', generation_id: id, ...own }];
		const run = await stage.run('waitForCompletion', {}, { items });
		expect(binaryOf(run.output('Step')[0]).fileName).toBe(`${name}-${id.slice(0, 8)}.png`);
	});

	it('takes the ids of the previous step, waits, and returns the files', async () => {
		const image = ownNode('Image', 'imageGeneration', {
			model: byId('lumen-turbo'),
			prompt: '={{ $json.prompt }}',
			options: { size: '64x64' },
			waitForCompletion: false,
		});
		const workflow = inARow(image, ownNode('Step', 'waitForCompletion', {}));
		const items = prompts('[seconds: 9] a boat', '[seconds: 3] a ship');
		const run = await stage.runWorkflow(workflow, { items });
		const ids = stage.sandbox.books.generations.map(({ id }) => id);
		expect(run.output('Step').map(({ json, pairedItem }) => [json, pairedItem])).toStrictEqual(
			ids.map((id, item) => [completed(id), { item }]),
		);
		for (const [index, item] of run.output('Step').entries()) {
			const field = binaryOf(item);
			expect(field.fileName).toBe(`lumen-turbo-${ids[index].slice(0, 8)}.png`);
			expect(sha256(await run.binary(field))).toBe(sha256(await stage.served(ids[index])));
		}
		expect(stage.sandbox.books.totals).toMatchObject({ created: 2, charged: 2 });
	});

	it.each<[string, (id: string) => IDataObject]>([
		['the output of another node', (id) => ({ id })],
		['one that includes other input fields', (id) => ({ id: 'row 7', generation: { id } })],
		['a row of media_generations', (id) => ({ id: 7, key: 'sku-1', generation_id: id })],
		[
			'a row, before one that includes other fields',
			(id) => ({ id: 7, generation_id: 'another', generation: { id } }),
		],
		['one whose generation is unknown', (id) => ({ id, generation_id: ' ', generation: null })],
	])('takes the ID from the item if its field is empty: %s', async (_, itemOf) => {
		const [id] = await madeBefore(stage, '[seconds: 0] a boat');
		const parameters = { generationId: '={{ $json.mine ?? "" }}', downloadOutput: false };
		for (const chosen of [parameters, { downloadOutput: false }]) {
			const run = await stage.run('waitForCompletion', chosen, { items: [itemOf(id)] });
			expect(run.output('Step')).toMatchObject([{ json: { id, status: 'completed' } }]);
		}
	});

	it('returns a finished generation without waiting, at no charge', async () => {
		const [id] = await madeBefore(stage, 'a boat [seconds: 999]');
		stage.sandbox.service.finish(id);
		const run = await stage.run('waitForCompletion', {}, { items: idsOf(` ${id} `) });
		expect(run.output('Step')).toMatchObject([{ json: completed(id), binary: { data: {} } }]);
		expect(stage.sandbox.requests.all.map(({ on }) => on)).toEqual(['status', 'download']);
	});

	describe('checking once', () => {
		// A state has to last long enough to be seen.
		beforeEach(() => stage.setPace(1));
		const check = { mode: 'check' };
		const untilIt = async (is: () => boolean) => {
			while (!is()) await new Promise((resolve) => setTimeout(resolve, 5));
		};

		it.each([
			['pending', 'a boat [seconds: 999]'],
			['processing', 'a boat [seconds: 3]'],
			['failed', 'a boat [seconds: 0] [fail]'],
		] as const)('returns a generation that is %s unchanged', async (state, prompt) => {
			const [id] = await madeBefore(stage, prompt);
			await untilIt(() => stage.sandbox.books.find(id)?.state === state);
			const run = await stage.run('waitForCompletion', check, { items: idsOf(id) });
			const [entry] = stage.sandbox.books.generations;
			expect(run.output('Step')).toStrictEqual([
				{ json: stage.promised({ ...entry, state }), pairedItem: { item: 0 } },
			]);
			expect(stage.sandbox.requests.all.map(({ on }) => on)).toEqual(['status']);
		});

		it('downloads a completed generation', async () => {
			const [ready, open] = await madeBefore(stage, 'a boat [seconds: 0]', 'a ship [seconds: 999]');
			const run = await stage.run('waitForCompletion', check, { items: idsOf(open, ready) });
			const [first, second] = run.output('Step');
			expect([first.json.status, first.binary]).toEqual(['pending', undefined]);
			const bytes = await run.binary(binaryOf(second));
			expect(sha256(bytes)).toBe(sha256(await stage.served(ready)));
		});
	});

	describe('when a generation is not ready in time', () => {
		// Two status checks before the last: requests take real time, and one response must arrive before the timeout.
		beforeEach(() => stage.setPace(20));

		it.each([
			['imageGeneration', { prompt: 'a boat [seconds: 999]' }],
			['videoGeneration', { prompt: 'a boat [seconds: 999]' }],
			['waitForCompletion', {}],
		] as const)('%s can return it unfinished', async (node, own) => {
			const [id] = await madeBefore(stage, 'a boat [seconds: 999]');
			const runOptions = { timeout: 30, onTimeout: 'continue' };
			const run = await stage.run(node, { ...own, runOptions }, { items: idsOf(id) });
			const entry = stage.sandbox.books.generations.at(-1);
			expect(run.status).toBe('success');
			expect(run.output('Step')).toStrictEqual([
				{
					json: { ...(entry && stage.promised(entry)), status: 'processing', timed_out: true },
					pairedItem: { item: 0 },
				},
			]);
			expect(stage.sandbox.requests.on('download')).toEqual([]);
		});

		it('is an error that says how to get it later', async () => {
			const [id] = await madeBefore(stage, 'a boat [seconds: 999]');
			const runOptions = { timeout: 30 };
			const run = await stage.run('waitForCompletion', { runOptions }, { items: idsOf(id) });
			expect(run.error).toMatchObject({
				message: 'The generation did not finish within 30 s',
				description: expect.stringMatching(`still processing.*Wait for Completion.*Charged: ${id}`),
				context: { itemIndex: 0, code: 'timeout', generations: [{ id, status: 'processing' }] },
			});
		});
	});
});

describe.each([404, 403] as const)(
	'by the output URL, where a missing file is answered with %d',
	(missingOutputStatus) => {
		const stage = openStage({ missingOutputStatus });
		const byUrl = (runOptions = {}) => ({ runOptions: { readiness: 'outputUrl', ...runOptions } });
		const probes = () => stage.sandbox.requests.on('probe');
		// A probe has to be answered within the poll interval.
		beforeEach(() => stage.setPace(20));

		it('asks for the first byte, by GET and without the key, until the file is there', async () => {
			const [id] = await madeBefore(stage, 'a boat [seconds: 30]');
			const run = await stage.run('waitForCompletion', byUrl(), { items: idsOf(id) });
			const [entry] = stage.sandbox.books.generations;
			expect(run.output('Step')).toMatchObject([
				{ json: stage.promised({ ...entry, state: 'completed' }), binary: { data: {} } },
			]);
			expect(probes().length).toBeGreaterThan(2);
			const { requests } = stage.sandbox;
			expect(new Set(requests.all.map(({ method }) => method))).toEqual(new Set(['GET']));
			expect(requests.keysAtStorage).toEqual([]);
			expect(requests.on('status').length).toBeLessThan(probes().length);
			expect(sha256(await run.binary(binaryOf(run.output('Step')[0])))).toBe(
				sha256(await stage.served(id)),
			);
		});
	},
);
