import { listModels } from '../../sandbox/models/catalogue';
import { byId, openStage, prompts } from './stage';

const stage = openStage();

const paths = () => stage.sandbox.requests.all.map(({ method, path }) => `${method} ${path}`);

describe('Generation Models', () => {
	const found = async (parameters: Parameters<typeof stage.run>[1]) =>
		(await stage.run('generationModels', parameters)).output('Step');

	it.each(['all', 'image', 'video'] as const)(
		"returns the service's own entries, one item each: %s",
		async (type) => {
			const expected = listModels(type).map((json) => ({ json, pairedItem: { item: 0 } }));
			expect(await found({ type, returnAll: true })).toStrictEqual(expected);
			expect(paths()).toEqual(['GET /v1/models']);
		},
	);

	it('lists up to fifty models of all types by default', async () => {
		expect(await found({})).toHaveLength(16);
		const data = Array.from({ length: 60 }, (_, index) => ({ id: `model-${index}`, extra: index }));
		const action = { kind: 'respond', status: 200, body: { object: 'list', data } } as const;
		stage.sandbox.faults.order({ on: 'models', times: 'always', action });
		expect((await found({})).map(({ json }) => json)).toStrictEqual(data.slice(0, 50));
		expect((await found({ returnAll: true })).map(({ json }) => json)).toStrictEqual(data);
	});

	it.each([0, -1, 2.5, 'many'])('refuses the limit %s before anything is sent', async (limit) => {
		const run = await stage.run('generationModels', { limit });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('Limit'),
			context: { itemIndex: 0, code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});

	it('looks up one model for each item', async () => {
		const items = [{ model: 'tidal-wide' }, { model: 'lumen-turbo' }];
		const parameters = { operation: 'get', modelId: byId('={{ $json.model }}') };
		const run = await stage.run('generationModels', parameters, { items });
		expect(run.output('Step')).toStrictEqual(
			items.map(({ model }, item) => ({
				json: listModels('all').find(({ id }) => id === model),
				pairedItem: { item },
			})),
		);
		// The catalog is the same for both.
		expect(paths()).toEqual(['GET /v1/models']);
	});
});

describe('Generation Credits', () => {
	const summary = { operation: 'getSummary' };

	it("returns the service's own balance, one item for each input item", async () => {
		stage.sandbox.service.accounts.setCredits('main', 12_345);
		const run = await stage.run('generationCredits', {}, { items: [{}, {}] });
		const json = {
			object: 'credit_balance',
			balance: 12_345,
			subscription_active: true,
			lifetime_purchased: 12_345,
			lifetime_used: 0,
		};
		expect(run.output('Step')).toStrictEqual([
			{ json, pairedItem: { item: 0 } },
			{ json, pairedItem: { item: 1 } },
		]);
		// The account is the same for both.
		expect(paths()).toEqual(['GET /v1/credits/balance']);
	});

	it("returns the service's own summary", async () => {
		const quick = { waitForCompletion: false };
		await stage.run('imageGeneration', quick, { items: prompts('one', 'two') });
		await stage.run('videoGeneration', { ...quick, duration: 2 }, { items: prompts('three') });
		const run = await stage.run('generationCredits', summary);
		expect(run.output('Step')).toStrictEqual([
			{
				json: {
					object: 'credit_summary',
					balance: 99_988,
					period_start: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
					period_end: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
					period_used: 12,
					by_media_type: { image: 2, video: 10 },
					by_model: [
						{ model: 'lumen-turbo', credits_used: 2 },
						{ model: 'aurora-motion-1', credits_used: 10 },
					],
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(paths().at(-1)).toBe('GET /v1/credits/summary');
	});

	it.each([{}, summary])('is an error below the minimum balance: %j', async (operation) => {
		stage.sandbox.service.accounts.setCredits('main', 99);
		const parameters = { ...operation, options: { minimumBalance: 100 } };
		const run = await stage.run('generationCredits', parameters);
		expect(run.error).toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(/\b99\b.*\b100\b/),
			description: expect.stringContaining('Nothing was charged'),
			context: { itemIndex: 0, code: 'balance_below_minimum' },
		});
	});

	it('continues at the minimum balance, or without a minimum', async () => {
		stage.sandbox.service.accounts.setCredits('main', 100);
		for (const options of [{ minimumBalance: 100 }, { minimumBalance: 0 }, {}]) {
			const run = await stage.run('generationCredits', { options });
			expect(run.output('Step')).toMatchObject([{ json: { balance: 100 } }]);
		}
	});

	it.each([
		'={{ undefined }}',
		'={{ $json.budget.least }}',
		'={{ null }}',
		'={{ "" }}',
		'= ',
		'',
		null,
	])('fails safe if the minimum balance is empty: %s', async (minimumBalance) => {
		const run = await stage.run('generationCredits', { options: { minimumBalance } });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('Minimum Balance'),
			context: { itemIndex: 0, code: 'invalid_input' },
		});
		expect(stage.arrived).toBe(0);
	});
});
