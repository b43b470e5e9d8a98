import type { NodeApiError } from 'n8n-workflow';

import { NOTHING_KNOWN } from '../support/answers';
import { workflowWith } from './keyed';
import { byId, openStage, prompts } from './stage';

const stage = openStage();

const goOn = { onError: 'continueRegularOutput' as const };
const apart = { onError: 'continueErrorOutput' as const };
const plain = { downloadOutput: false };

const texts = [
	'[seconds: 9] a boat',
	'a ship [fail: no paint]',
	'',
	'a raft [reject: invalid_parameter]',
	'a dinghy',
];
const items = texts.map((prompt, row) => ({ prompt, row }));

const entryOf = (prompt: string) => {
	const entry = stage.sandbox.books.generations.find((made) => made.prompt === prompt);
	if (!entry) throw new Error(`Nothing was made for "${prompt}"`);
	return entry;
};
const completed = (prompt: string) => stage.promised({ ...entryOf(prompt), state: 'completed' });

const failure = {
	error: expect.stringMatching(/^The generation failed\W+no paint\..*refunded/),
	error_code: 'generation_failed',
};
const unpaid = [
	{ error: expect.stringMatching(/^Prompt is empty\./), error_code: 'invalid_input' },
	{
		error: expect.stringMatching(/^Invalid parameter: A parameter is out of range/),
		error_code: 'invalid_parameter',
	},
];

/** The expected output of each failed item above, in order: beside the input's own fields, and as separate items. */
const failures = () => [{ ...failure, id: entryOf(texts[1]).id, status: 'failed' }, ...unpaid];
const failedItems = () => [
	{ ...stage.promised({ ...entryOf(texts[1]), state: 'failed' }), ...failure },
	...unpaid.map((refused) => ({ ...NOTHING_KNOWN, ...refused })),
];

describe('On Error = Stop, with one item of twelve that fails', () => {
	const twelve = prompts(
		...Array.from({ length: 12 }, (_, index) =>
			index === 3 ? 'a boat [fail: no paint]' : 'a ship',
		),
	);
	const workflow = (settings = {}) =>
		workflowWith({ ...plain, runOptions: { maxConcurrent: 12 } }, settings);

	it('says which one it was once, and counts from 1: n8n would add a number that counts from 0', async () => {
		const run = await stage.runWorkflow(workflow(), { items: twelve });
		const error = run.error as NodeApiError;
		expect(error.description).toMatch(/^Item 4 of 12 failed\. The credits were refunded\./);
		expect(error.description?.match(/item 4/gi)).toHaveLength(1);
		expect(error.description).toMatch(
			/To get the other outputs: 1. In the tab Settings of the node, set On Error to Continue/,
		);
		// n8n's editor shows what is stored with the execution.
		const stored = JSON.parse(JSON.stringify(error.context)) as object;
		expect(stored).not.toHaveProperty('itemIndex');
		expect(error.context.itemIndex).toBe(3);
	});
});

describe('On Error = Continue', () => {
	it.each([goOn, { continueOnFail: true }])(
		'returns one item for each input item, in order and paired: %j',
		async (settings) => {
			const run = await stage.run('imageGeneration', plain, { items, settings });
			expect(run.status).toBe('success');
			const [failed, empty, refused] = failedItems();
			expect(run.output('Step')).toStrictEqual(
				[completed(texts[0]), failed, empty, refused, completed(texts[4])].map((json, item) => ({
					json,
					pairedItem: { item },
				})),
			);
		},
	);

	it('returns one item for each input item of a node that only reads', async () => {
		const parameters = { operation: 'get', modelId: byId('={{ $json.model }}') };
		const asked = [{ model: 'none-such' }, { model: 'lumen-turbo' }, { model: '' }];
		const run = await stage.run('generationModels', parameters, { items: asked, settings: goOn });
		expect(run.output('Step')).toMatchObject([
			{ json: { error_code: 'model_not_found' }, pairedItem: { item: 0 } },
			{ json: { id: 'lumen-turbo' }, pairedItem: { item: 1 } },
			{ json: { error_code: 'invalid_input' }, pairedItem: { item: 2 } },
		]);
	});
});

describe('On Error = Error Output', () => {
	it("keeps the input's own fields beside the error, and pairs both outputs", async () => {
		const run = await stage.run('imageGeneration', plain, { items, settings: apart });
		expect(run.status).toBe('success');
		expect(run.output('Step', 0)).toStrictEqual(
			[0, 4].map((item) => ({ json: completed(texts[item]), pairedItem: { item } })),
		);
		expect(run.output('Step', 1)).toStrictEqual(
			failures().map((failure, index) => ({
				json: { ...items[index + 1], ...failure },
				pairedItem: { item: index + 1 },
			})),
		);
	});
});

describe('On Error = Stop', () => {
	it('names the item, the reason, and the refunded credits', async () => {
		const given = prompts('a ship [seconds: 1] [fail: no paint]');
		const run = await stage.run('imageGeneration', plain, { items: given });
		const { id } = stage.sandbox.books.generations[0];
		expect(run.error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(/^The generation failed\W+no paint$/),
			description: expect.stringMatching(
				`credits were refunded.*Code: generation_failed\\. Refunded: ${id}`,
			),
			context: { itemIndex: 0, code: 'generation_failed', generations: [] },
		});
		expect(run.output('Step')).toEqual([]);
	});

	it('names every charged generation, so that users can fetch the results later', async () => {
		const given = prompts(
			'a boat [seconds: 1]',
			'a raft [seconds: 60]',
			'a ship [seconds: 8] [fail]',
			'a dinghy [seconds: 60]',
		);
		const run = await stage.run('imageGeneration', {}, { items: given });
		const paid = stage.sandbox.books.generations.filter(({ refunded }) => refunded === 0);
		expect(paid).toHaveLength(3);
		expect(run.error).toMatchObject({ context: { itemIndex: 2, code: 'generation_failed' } });
		for (const { id } of paid) expect(run.error).toHaveProperty('description', containing(id));
		const { generations } = run.error?.context as { generations: Array<{ id: string }> };
		expect(generations.map(({ id }) => id)).toEqual(paid.map(({ id }) => id));
		// n8n may be configured not to save the execution.
		expect(run.logs).toContainEqual(
			expect.objectContaining({
				level: 'warn',
				message: containing('Failed (The generation failed'),
				metadata: { generations: paid.map(({ id }) => id) },
			}),
		);
	});

	it('sends nothing more once an item has failed', async () => {
		const given = prompts('a ship [reject: invalid_parameter]', 'a raft', 'a dinghy');
		const parameters = { runOptions: { maxConcurrent: 1 } };
		const run = await stage.run('imageGeneration', parameters, { items: given });
		expect(run.error).toMatchObject({ context: { itemIndex: 0, code: 'invalid_parameter' } });
		expect(stage.sandbox.requests.on('create')).toHaveLength(1);
	});
});

function containing(text: string): unknown {
	return expect.stringContaining(text);
}
