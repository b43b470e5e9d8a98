import { SlotPool } from '../../../client/orders/slot-pool';
import { answerLost } from '../../support/fake-service';
import { answer, refusal } from '../../support/answers';
import { keyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { sleepThrough } from '../../support/sleeping-batch';
import { batch, errorIn, Step } from '../../support/step';
import type { SpendLimits } from '../../../client/orders/spend-guard';
import type { Outcome } from '../../../client/jobs/outcome';

const BALANCE = 98_802;

/** Returns a step whose account has the balance of the test. Requests take a moment, and a generation costs 40 credits. */
function spending(limits: SpendLimits, stopOnError = false): Step {
	const step = new Step({ ...limits, stopOnError });
	step.fake.credits = BALANCE;
	step.fake.price = () => 40;
	step.fake.latencyMs = 200;
	return step;
}

/** Returns another step on the account of the first one. */
function beside(first: Step, limits: SpendLimits = {}): Step {
	const settings = { ...first.settings, maxCredits: null, minimumBalance: null, ...limits };
	return Object.assign(Object.create(first) as Step, { kept: {}, settings });
}

const kinds = (outcomes: Array<Outcome<unknown>>) =>
	outcomes.map((outcome) => (outcome.kind === 'error' ? outcome.error.code : outcome.kind));
const madeBy = (outcomes: Array<Outcome<unknown>>) =>
	outcomes.filter(({ kind }) => kind === 'done').length;

it('a request whose response was lost counts for Limit New Generations: it may have been charged', async () => {
	const step = spending({ maxNewGenerations: 1 });
	step.fake.order('p0', answerLost);
	const { outcomes } = await step.run(batch(2));
	expect(kinds(outcomes)).toEqual(['uncertain_charge', 'generation_limit_reached']);
	expect(step.fake.creating).toHaveLength(1);
});

const LIMITS: Array<[string, SpendLimits, string]> = [
	['Stop Below Balance', { minimumBalance: BALANCE - 100 }, 'balance_below_minimum'],
	['Spend at Most', { maxCredits: 100 }, 'credit_limit_reached'],
];

describe.each(LIMITS)('with %s', (_, limits, code) => {
	it.each([true, false])(
		'ten videos at ten at once stop in time, and the paid ones are in the output (On Error = Stop: %s)',
		async (stopOnError) => {
			const step = spending(limits, stopOnError);
			const { outcomes, firstFailed } = await step.run(batch(10));
			expect(kinds(outcomes)).toEqual(['done', 'done', ...Array<string>(8).fill(code)]);
			expect([step.fake.spent(), firstFailed]).toEqual([80, null]);
		},
	);

	it.each([
		['that rise', [1, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40]],
		['that fall', [70, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]],
		['that are mixed', [5, 20, 1, 50, 2, 10, 40, 3, 1, 30, 60, 5]],
	])('prices %s overshoot by at most one price', async (__, prices) => {
		const step = spending(limits);
		step.fake.price = (prompt) => prices[Number(prompt.slice(1))];
		await step.run(batch(prices.length));
		expect(step.fake.spent()).toBeLessThanOrEqual(100 + Math.max(...prices));
		expect(step.fake.spent()).toBeGreaterThanOrEqual(70);
	});

	it('a refund while another request is measured does not hide its price', async () => {
		const step = spending(limits);
		// Each fails while the next request is on its way, or is measured.
		step.fake.durationMs = () => 500;
		step.fake.failure = (prompt) => (prompt < 'p3' ? 'no' : undefined);
		let highest = 0;
		const { send } = step.fake;
		Object.assign(step.fake, {
			send: async (...request: Parameters<typeof send>) => {
				const response = await send(...request);
				highest = Math.max(highest, step.fake.spent());
				return response;
			},
		});
		await step.run(batch(10));
		expect(highest).toBeLessThanOrEqual(140);
	});

	it.each([
		['is down', async () => await Promise.resolve(refusal(503, 'service_unavailable'))],
		['is text', () => answer({ balance: '500' })],
	])('a balance that %s leaves all items unsent, with its error', async (__, balance) => {
		const step = spending(limits);
		step.fake.balance = balance;
		const { outcomes } = await step.run(batch(5));
		for (const outcome of outcomes) {
			expect(errorIn(outcome)).toMatchObject({
				message: expect.stringMatching(/^The balance could not be read: /),
				charge: 'none',
			});
		}
		expect(step.fake.creating).toEqual([]);
	});

	it('a balance that can no longer be read leaves the rest unsent', async () => {
		const step = spending(limits);
		const { balance } = step.fake;
		step.fake.balance = () => (step.fake.made.length > 0 ? refusal(403, 'forbidden') : balance());
		const { outcomes } = await step.run(batch(5));
		expect(kinds(outcomes)).toEqual(['done', ...Array<string>(4).fill('forbidden')]);
	});

	it('a request whose response is lost is measured, too', async () => {
		const step = spending(limits);
		step.fake.order('p0', answerLost);
		const { outcomes } = await step.run(batch(5));
		expect(kinds(outcomes)).toEqual([
			...['uncertain_charge', 'done', ...Array<string>(3).fill(code)],
		]);
	});

	it('several steps on one account at once overshoot by at most one price each', async () => {
		const first = spending(limits);
		first.slots = new SlotPool({ clock: first.time, random: () => 0 });
		const steps = [first, beside(first, limits), beside(first, limits)];
		const runs = await first.time.run(
			Promise.all(steps.map(async (step) => await step.begin(batch(10)))),
		);
		const made = runs.map(({ outcomes }) => madeBy(outcomes));
		if (limits.maxCredits) for (const count of made) expect(count * 40).toBeLessThanOrEqual(140);
		else expect(first.fake.spent()).toBeLessThanOrEqual(100 + 3 * 40);
		expect(Math.max(...made)).toBeGreaterThan(0);
	});

	it('a full account is waited for, and the balance is read again before each request', async () => {
		const step = spending(limits);
		step.fake.slots = 1;
		step.fake.durationMs = () => 60_000;
		const { outcomes } = await step.run(batch(4));
		expect(kinds(outcomes)).toEqual(['done', 'done', code, code]);
	});

	it('the first request goes alone, and far from the limit all others go at once', async () => {
		const step = spending(limits.maxCredits ? { maxCredits: 50_000 } : { minimumBalance: 100 });
		step.fake.latencyMs = 1_000;
		await step.run(batch(10));
		const [first, ...others] = step.fake.creating.map(({ at }) => at);
		// The first request, and the balance after it, take a second each.
		expect(others.map((at) => at - first)).toEqual(Array(9).fill(2_000));
	});

	it('a batch that sleeps counts what its earlier waves have spent', async () => {
		const step = spending(limits);
		step.settings.maxConcurrent = 1;
		step.fake.durationMs = () => 300_000;
		const jobs = [0, 1, 2, 3].map((item) => keyed(`p${item}`, item, `k${item}`));
		const night = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
		expect(night.waves).toBeGreaterThan(2);
		expect(Object.values(night.settled).map((error) => error?.code ?? null)).toEqual([
			...[null, null, code, code],
		]);
	});
});

it('a retry of the step does not raise Spend at Most', async () => {
	const step = spending({ maxCredits: 100 });
	step.settings.maxConcurrent = 1;
	step.fake.order('p1', () => refusal(422, 'unsupported_parameter'));
	step.settings.stopOnError = true;
	const { stats } = await step.run(batch(6));
	expect(stats.spent).toEqual({ requests: 1, credits: 40, price: 40 });
	step.settings.spentBefore = stats.spent;
	const { outcomes } = await step.runAgain(batch(6));
	expect(kinds(outcomes)).toEqual([
		'done',
		'done',
		...Array<string>(4).fill('credit_limit_reached'),
	]);
});

it.each([
	[
		{ maxCredits: 100 },
		/^The limit of 100 credits is reached: 80 are spent, and the next .* up to 40$/,
	],
	[
		{ minimumBalance: BALANCE - 100 },
		/^98,722 credits are left, your minimum is 98,702, and the next .* up to 40$/,
	],
	[{ minimumBalance: BALANCE + 1 }, /^98,802 credits are left, your minimum is 98,803$/],
])('the error says what is left, and what the next one may cost: %j', async (limits, message) => {
	const { outcomes } = await spending(limits).run(batch(3));
	expect(errorIn(outcomes[2]).message).toMatch(message);
});
