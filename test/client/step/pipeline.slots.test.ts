import fc from 'fast-check';

import { SlotPool } from '../../../client/orders/slot-pool';
import { seededRandom } from '../../../sandbox/basics/random';
import { answer, noSlot, retryAfter } from '../../support/answers';
import { refused } from '../../support/fake-service';
import { idealMakespan } from '../../support/makespan';
import { batch, creating, errorIn, inShort, Step } from '../../support/step';

/** Items that wait for a slot of their account, alone or beside other steps and other clients. */

/** A step whose account has this many slots. */
function limited(slots: number, settings = {}): Step {
	const step = new Step({ stopOnError: false, maxConcurrent: 50, ...settings });
	step.fake.slots = slots;
	return step;
}

/** Lets others hold all slots of the account until then, and `left` of them afterwards. */
function occupied(step: Step, untilMs: number, left = 0): void {
	step.fake.others = () => (step.elapsed < untilMs ? step.fake.slots : left);
}

/** When the requests were sent, in milliseconds after the start. */
function sentAt(step: Step): number[] {
	const start = step.time.now() - step.elapsed;
	return step.fake.creating.map(({ at }) => at - start);
}

const madeAt = ({ fake, time, elapsed }: Step) =>
	fake.made.map(({ startedAt }) => startedAt - time.now() + elapsed);
const pauses = (times: number[]) => times.slice(1).map((at, index) => at - times[index]);
const inForm = { wait: false } as const;

describe('items without a slot', () => {
	it.each([0, 300])('get one in their order: %i ms per response', async (latencyMs) => {
		const step = limited(2);
		step.fake.latencyMs = latencyMs;
		await step.run(batch(8));
		const order = [...step.fake.made].sort((one, other) => one.startedAt - other.startedAt);
		expect(order.map(({ prompt }) => prompt)).toEqual(batch(8).map((_, index) => `p${index}`));
	});

	it.each([0, 3_000])(
		'of a tool are not sent after its timeout, however often others get one: %i ms per response',
		async (latencyMs) => {
			const step = limited(1);
			step.fake.latencyMs = latencyMs;
			step.fake.durationMs = () => 30_000;
			const tool = creating('tool', 5, { timeoutMs: 45_000, countsFromStart: true });
			const { outcomes } = await step.run([...batch(5), tool]);
			expect(inShort(outcomes[5])).toBe('CONCURRENCY_LIMIT_REACHED');
			expect(errorIn(outcomes[5]).charge).toBe('none');
			expect(step.fake.made.map(({ prompt }) => prompt)).not.toContain('tool');
		},
	);

	it('ask one at a time, not all of them', async () => {
		const step = limited(0);
		step.fake.latencyMs = 300;
		await step.run(batch(50, { ...inForm, timeoutMs: 60_000 }));
		const later = sentAt(step).filter((at) => at > 0);
		expect(later.length).toBeLessThan(20);
		expect(Math.min(...pauses(later))).toBeGreaterThan(300);
	});

	it('ask again after pauses that grow', async () => {
		const step = limited(1);
		occupied(step, 200_000);
		await step.run(batch(1, inForm));
		const all = pauses(sentAt(step));
		expect(all.slice(0, 3)).toEqual([1000, 2000, 4000]);
		expect(Math.max(...all)).toBeLessThanOrEqual(30_000);
	});

	it('get one at most half a minute after others have freed it', async () => {
		await fc.assert(
			fc.asyncProperty(fc.nat(100_000), async (freeAt) => {
				const step = limited(1);
				occupied(step, freeAt);
				await step.run(batch(1, inForm));
				expect(step.elapsed - freeAt).toBeLessThanOrEqual(30_000);
			}),
		);
	});

	it('take all slots that others have freed, as soon as one is found', async () => {
		const step = limited(6);
		occupied(step, 5_000);
		await step.run(batch(6, inForm));
		expect(new Set(madeAt(step)).size).toBe(1);
	});

	it('ask for two more slots after one that others have freed, not for all', async () => {
		const step = limited(10);
		step.fake.latencyMs = 100;
		step.fake.durationMs = () => 1_000_000;
		step.fake.others = () => (step.elapsed < 20_000 ? 10 : step.elapsed < 60_000 ? 9 : 0);
		await step.run(batch(10, inForm));
		const [found] = madeAt(step);
		expect(sentAt(step).filter((at) => at > found && at <= found + 500)).toHaveLength(2);
	});

	it('ask more often the longer there is none, and less often once there was one', async () => {
		const step = limited(1);
		step.fake.durationMs = () => 1_000_000;
		occupied(step, 300_000);
		await step.run(batch(2, { ...inForm, timeoutMs: 320_000 }));
		const times = sentAt(step);
		const pauseAt = (at: number) => {
			const next = times.findIndex((each) => each > at);
			return times[next] - times[next - 1];
		};
		// With this jitter, a pause is half of the maximum.
		expect([30_000, 120_000, 240_000, 350_000].map(pauseAt)).toEqual([
			5000,
			expect.closeTo(2500, -2),
			1500,
			5000,
		]);
	});

	it('fail after their timeout, and the error says how many run and are allowed', async () => {
		const step = limited(10);
		step.fake.others = () => 12;
		const { outcomes, stats } = await step.run(batch(1, { timeoutMs: 60_000 }));
		const { message, description } = errorIn(outcomes[0]);
		expect(message).toBe('No free slot: 12 generations are running, and the plan allows 10');
		expect(description).toMatch(/within 60 s.*was not sent/);
		expect([step.elapsed, stats.slotWaitMs]).toEqual([60_000, 60_000]);
	});

	it('fail later if another item has gained a slot in the meantime', async () => {
		const step = limited(1);
		step.fake.durationMs = () => 1_000_000;
		occupied(step, 50_000);
		const { outcomes } = await step.run(batch(2, { ...inForm, timeoutMs: 60_000 }));
		expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'error']);
		expect(step.elapsed).toBeGreaterThanOrEqual(110_000);
	});

	it('get the slot of an item that does not need it, because it is rejected', async () => {
		const step = limited(1);
		occupied(step, 5_000);
		step.fake.order('p0', () => noSlot(1, 1), refused(422, 'unsupported_parameter'));
		const { outcomes } = await step.run(batch(2, inForm));
		expect(outcomes.map(inShort)).toEqual(['unsupported_parameter', 'pending generation-1']);
		expect(step.elapsed).toBeLessThan(20_000);
	});
});

describe('a slot', () => {
	it.each([null, 30, 120])('that the step frees is used at once: Retry-After %s', async (asked) => {
		const step = limited(5, { maxConcurrent: 10 });
		const secondsOf = (index: number) => 40 + ((index * 7) % 20);
		step.fake.durationMs = (text) => 1000 * secondsOf(Number(text.slice(1)));
		const { send } = step.fake;
		(step.fake as { send: typeof send }).send = async (request) => {
			const response = await send(request);
			return response.status === 429 && asked ? retryAfter(asked, response) : response;
		};
		const { outcomes } = await step.run(batch(40));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		const ideal = idealMakespan(
			Array.from({ length: 40 }, (_, index) => secondsOf(index)),
			5,
		);
		// Each end is seen at most a poll interval later.
		expect(step.elapsed).toBeLessThan(1000 * (ideal + 8 * 4));
	});

	it('that is free is not held by an item while it reads the balance', async () => {
		const step = limited(1);
		step.fake.durationMs = () => 20_000;
		step.fake.balance = async () => {
			await step.time.sleep(step.elapsed > 20_500 ? 60_000 : 0);
			return answer({ balance: 1_000 });
		};
		step.slots = new SlotPool({ clock: step.time, random: () => 0 });
		const poor = Object.assign(Object.create(step) as Step, {
			kept: {},
			settings: { ...step.settings, minimumBalance: 1 },
		});
		const jobs = [creating('first', 0), creating('poor', 1)];
		const other = step.time.sleep(5_000).then(async () => await step.begin([creating('other')]));
		await step.time.run(Promise.all([poor.begin(jobs), other]));
		const started = (name: string) => {
			const [first] = step.fake.made;
			const at = step.fake.made.find(({ prompt }) => prompt === name)?.startedAt ?? Infinity;
			return (at - first.startedAt) / 1000;
		};
		expect(started('other')).toBe(21);
		expect(started('poor')).toBeLessThan(120);
	});
});

describe('steps that share the slots of an account', () => {
	/** Returns a function that begins another step with its own Stop. */
	function sharing(first: Step, random = () => 0) {
		first.slots = new SlotPool({ clock: first.time, random });
		return async (name: string, items: number, changes = {}, cancel = new AbortController()) => {
			const other = Object.assign(Object.create(first) as Step, { cancel, kept: {} });
			other.settings.maxConcurrent = 4;
			const jobs = batch(items, changes).map((job) => ({
				...job,
				request: async () =>
					await Promise.resolve({ type: 'image' as const, body: { model: 'm', prompt: name } }),
			}));
			return await other.begin(jobs);
		};
	}
	const ownOf = ({ fake }: Step, name: string) => fake.made.filter(({ prompt }) => prompt === name);

	it('form one queue: a newcomer is served after those who came before it', async () => {
		const step = limited(2);
		const begin = sharing(step);
		const one = step.time.sleep(20_000).then(async () => await begin('one', 1));
		await step.time.run(Promise.all([begin('batch', 30), one]));
		const [{ startedAt }] = ownOf(step, 'one');
		expect(startedAt - step.fake.made[0].startedAt).toBeLessThanOrEqual(20_000 + 2 * 13_000);
	});

	it('ask for slots that others have freed like a single client', async () => {
		const refusals = async (count: number) => {
			const step = limited(100);
			occupied(step, 300_000);
			const begin = sharing(step);
			const all = Array.from({ length: count }, async (_, n) => await begin(`${n}`, 1, inForm));
			await step.time.run(Promise.all(all));
			// At the start, every step sends its request.
			return sentAt(step).filter((at) => at > 0 && at < 300_000).length;
		};
		expect(await refusals(20)).toBe(await refusals(1));
	});

	it('take the slots that the generations of any of them free', async () => {
		const step = limited(3);
		const begin = sharing(step);
		await step.time.run(Promise.all([begin('first', 3), begin('second', 3)]));
		const start = step.time.now() - step.elapsed;
		expect(ownOf(step, 'second').every(({ startedAt }) => startedAt - start < 13_000)).toBe(true);
	});

	it('send at once if the pool had slots for the whole queue', async () => {
		const step = limited(12);
		occupied(step, 5_000);
		const begin = sharing(step);
		await step.time.run(begin('first', 2, inForm));
		await step.time.run(step.time.sleep(60_000));
		const from = step.time.now();
		await step.time.run(begin('late', 12, inForm));
		expect(ownOf(step, 'late').map(({ startedAt }) => startedAt - from)).toEqual(Array(12).fill(0));
	});

	it('have independent stops, errors and timeouts', async () => {
		const step = limited(1);
		step.fake.durationMs = () => 20_000;
		const begin = sharing(step);
		const stop = new AbortController();
		step.time.at(step.time.now() + 24_000, () => stop.abort());
		step.fake.order('refused', () => noSlot(1, 1), refused(401, 'expired_api_key'));
		const [stopped, closed, other] = await step.time.run(
			Promise.all([
				begin('stopped', 3, {}, stop),
				begin('refused', 3),
				begin('other', 3, { timeoutMs: 600_000 }),
			]),
		);
		expect(stopped.outcomes.some(({ kind }) => kind === 'stopped')).toBe(true);
		expect(new Set(closed.outcomes.map(inShort))).toEqual(new Set(['expired_api_key']));
		expect(other.outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
	});

	it('all get a slot, for any load by others on the account and any stop', async () => {
		const schedule = fc.record({
			steps: fc.array(
				fc.record({ items: fc.integer({ min: 1, max: 8 }), stopAt: fc.nat(60_000) }),
				{ minLength: 2, maxLength: 5 },
			),
			taken: fc.array(fc.nat(3), { minLength: 1, maxLength: 10 }),
			seed: fc.nat(1_000_000),
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ steps, taken, seed }) => {
				const step = limited(3);
				step.fake.durationMs = () => 3_000;
				step.fake.others = () => taken[Math.floor(step.elapsed / 7_000)] ?? 0;
				const begin = sharing(step, seededRandom(seed));
				const all = steps.map(async ({ items, stopAt }, index) => {
					const stop = new AbortController();
					if (index > 0) step.time.at(step.time.now() + stopAt, () => stop.abort());
					return await begin(`${index}`, items, {}, stop);
				});
				await step.time.run(Promise.all(all));
				// The first step is never stopped.
				expect(ownOf(step, '0')).toHaveLength(steps[0].items);
			}),
		);
	});
});
