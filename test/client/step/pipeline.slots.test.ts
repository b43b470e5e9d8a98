import { SlotPool } from '../../../client/orders/slot-pool';
import { noSlot, retryAfter } from '../../support/answers';
import { refused } from '../../support/fake-service';
import { idealMakespan } from '../../support/makespan';
import { batch, errorIn, inShort, Step } from '../../support/step';

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

const pauses = (times: number[]) => times.slice(1).map((at, index) => at - times[index]);
const inForm = { wait: false } as const;

describe('items without a slot', () => {
	it('get one in their order', async () => {
		const step = limited(2);
		step.fake.latencyMs = 300;
		await step.run(batch(8));
		const order = [...step.fake.made].sort((one, other) => one.startedAt - other.startedAt);
		expect(order.map(({ prompt }) => prompt)).toEqual(batch(8).map((_, index) => `p${index}`));
	});

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

	it('fail after their timeout, and the error says how many run and are allowed', async () => {
		const step = limited(10);
		step.fake.others = () => 12;
		const { outcomes, stats } = await step.run(batch(1, { timeoutMs: 60_000 }));
		const { message, description } = errorIn(outcomes[0]);
		expect(message).toBe('No free slot: 12 generations are running, and the plan allows 10');
		expect(description).toMatch(/within 60 s.*was not sent/);
		expect([step.elapsed, stats.slotWaitMs]).toEqual([60_000, 60_000]);
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

	it('take the slots that the generations of any of them free', async () => {
		const step = limited(3);
		const begin = sharing(step);
		await step.time.run(Promise.all([begin('first', 3), begin('second', 3)]));
		const start = step.time.now() - step.elapsed;
		expect(ownOf(step, 'second').every(({ startedAt }) => startedAt - start < 13_000)).toBe(true);
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
});
