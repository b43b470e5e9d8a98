import type { INodeParameters } from 'n8n-workflow';

import { items, keyed, openKeyedStage, workflowWith } from './keyed';
import { prompts } from './stage';

const { stage, created, execute } = openKeyedStage();

const goOn = { onError: 'continueRegularOutput' as const };
const withRuns = (runOptions: INodeParameters): INodeParameters => ({
	downloadOutput: false,
	runOptions,
});
const codes = (output: Array<{ json: { error_code?: unknown } }>) =>
	output.map(({ json }) => json.error_code ?? 'made');
const balanceReads = () =>
	stage.sandbox.requests.all.filter(({ path }) => path === '/v1/credits/balance').length;
const setCredits = (credits: number) => stage.sandbox.service.accounts.setCredits('main', credits);

describe('Limit New Generations', () => {
	it('creates this many, and the rest are errors without a charge', async () => {
		const run = await stage.run('imageGeneration', withRuns({ maxNewGenerations: 2 }), {
			items: prompts('a', 'b', 'c', 'd'),
			settings: goOn,
		});
		expect(codes(run.output('Step'))).toEqual([
			...['made', 'made', 'generation_limit_reached', 'generation_limit_reached'],
		]);
		expect(run.output('Step')[2].json.error).toMatch(
			/^The limit of 2 new generations is reached\. /,
		);
		expect(created()).toBe(2);
	});

	it('does not count reused generations, so that a second run creates the rest', async () => {
		const list = items(['1', 'a'], ['2', 'b'], ['3', 'c']);
		const parameters = { ...keyed, ...withRuns({ maxNewGenerations: 2 }) };
		await execute(list, parameters, goOn);
		const run = await execute(list, parameters, goOn);
		expect(codes(run.output('Step'))).toEqual(['made', 'made', 'made']);
		expect(created()).toBe(3);
	});

	it('is not raised by Retry On Fail', async () => {
		const again = { retryOnFail: true, maxTries: 4, waitBetweenTries: 1 };
		const run = await stage.run('imageGeneration', withRuns({ maxNewGenerations: 2 }), {
			items: prompts('a [fail: no]', 'b', 'c', 'd', 'e', 'f'),
			settings: again,
		});
		expect(run.output('Step')).toMatchObject([{ pairedItem: { item: 1 } }]);
		expect(created()).toBe(2);
	});

	it.each([
		['invalid', -1, ['invalid_input', 'made', 'generation_limit_reached']],
		['undefined', undefined, ['invalid_input', 'made', 'generation_limit_reached']],
		['null', null, ['invalid_input', 'made', 'generation_limit_reached']],
		['empty', '', ['invalid_input', 'made', 'generation_limit_reached']],
	])('applies even if that of the first item is %s', async (_, first, expected) => {
		const parameters = withRuns({ maxNewGenerations: '={{ $json.most }}', maxConcurrent: 1 });
		const run = await stage.run('imageGeneration', parameters, {
			items: [first, 1, 1].map((most) => ({ prompt: 'a boat', most })),
			settings: goOn,
		});
		expect(codes(run.output('Step'))).toEqual(expected);
	});
});

describe('with On Error = Stop, the items that Limit New Generations does not allow', () => {
	const notSent = (message: string) => [{ message, type: 'warning' }];
	const limited = { ...keyed, ...withRuns({ maxNewGenerations: 2, maxConcurrent: 1 }) };

	it('are not sent, which is no error, and a warning says how many', async () => {
		const list = items(['1', 'a'], ['2', 'b'], ['3', 'c'], ['4', 'd']);
		const run = await execute(list, limited);
		expect([run.error, run.status]).toEqual([undefined, 'success']);
		expect(run.output('Step').map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
		]);
		expect(run.hints('Step')).toMatchObject(
			notSent(
				'2 of 4 ready. 2 were not sent at no charge: The limit of 2 new generations is reached. Run the workflow again to create the rest: items with an Idempotency Key are reused at no charge. Without one, run only the remaining items, because a new run is charged for all.',
			),
		);
		const again = await execute(list, limited);
		expect(codes(again.output('Step'))).toEqual(Array(4).fill('made'));
		expect(created()).toBe(4);
	});
});

describe('Stop Below Balance', () => {
	it('creates nothing if fewer credits are left, and reads the balance first', async () => {
		setCredits(99);
		const run = await stage.run('imageGeneration', withRuns({ minimumBalance: 100 }), {
			items: prompts('a', 'b'),
			settings: goOn,
		});
		expect(codes(run.output('Step'))).toEqual(['balance_below_minimum', 'balance_below_minimum']);
		expect(run.output('Step')[0].json.error).toMatch(
			/^99 credits are left, your minimum is 100\. /,
		);
		expect(created()).toBe(0);
		expect(balanceReads()).toBe(1);
	});
});

describe.each<[string, INodeParameters, RegExp]>([
	[
		'Stop Below Balance',
		{ minimumBalance: 98_702 },
		/^98,722 credits are left, your minimum is 98,702, and the next generation may cost up to 40\./,
	],
	[
		'Spend at Most',
		{ maxCredits: 100 },
		/^The limit of 100 credits is reached: 80 are spent, and the next generation may cost up to 40\./,
	],
])('ten videos at ten at once with %s', (_, limit, reason) => {
	const run = async (settings = {}) => {
		setCredits(98_802);
		const parameters = { ...withRuns(limit), duration: 4, resolution: '720p' };
		return await stage.run('videoGeneration', parameters, {
			items: prompts(...'abcdefghij'),
			settings,
		});
	};

	it('stop in time, the rest is not sent, with a warning, and the paid ones are in the output', async () => {
		const done = await run();
		expect([done.error, created()]).toEqual([undefined, 2]);
		expect(codes(done.output('Step'))).toEqual(['made', 'made']);
		const [{ message, type }] = done.hints('Step');
		expect(type).toBe('warning');
		const [, why] = message.split('8 were not sent at no charge: ');
		expect(why).toMatch(reason);
		expect(message).toContain('About 80 credits spent. Balance: 98,802 → 98,722');
	});

	it('are items with the code of the limit if On Error continues', async () => {
		const code = 'maxCredits' in limit ? 'credit_limit_reached' : 'balance_below_minimum';
		const done = await run(goOn);
		expect(codes(done.output('Step'))).toEqual(['made', 'made', ...Array<string>(8).fill(code)]);
	});
});

it('a limit in credits that is set and empty is an error of its item', async () => {
	const run = await stage.run('imageGeneration', withRuns({ maxCredits: '' }), {
		items: prompts('a'),
		settings: goOn,
	});
	expect([codes(run.output('Step')), created()]).toEqual([['invalid_input'], 0]);
});

describe('the hint after a step', () => {
	const hint =
		/About 2 credits spent\. Balance: ([\d,]+) → ([\d,]+), including other work on this account\.$/;

	it('says the balance before and after if there is a minimum', async () => {
		const run = await stage.run('imageGeneration', withRuns({ minimumBalance: 1 }), {
			items: prompts('a', 'b'),
		});
		expect(run.hints('Step')).toMatchObject([
			{ message: expect.stringMatching(hint), type: 'info' },
		]);
	});

	it('says it after a run by hand that created something, and is silent if it created nothing', async () => {
		const list = items(['1', 'a'], ['2', 'b']);
		const order = { items: list, mode: 'manual' as const };
		const first = await stage.runWorkflow(workflowWith(keyed), order);
		expect(first.hints('Step')).toMatchObject([{ message: expect.stringMatching(hint) }]);
		stage.sandbox.requests.clear();
		const second = await stage.runWorkflow(workflowWith(keyed), order);
		expect(JSON.stringify(second.hints('Step'))).not.toMatch(/balance/i);
		expect(balanceReads()).toBe(0);
	});
});
