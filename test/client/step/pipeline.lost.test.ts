import { refusal } from '../../support/answers';
import { keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { errorIn, inShort, Step } from '../../support/step';

/** Items with keys whose generations the service has lost, in virtual time. */

const SIZE = 12;
const unknown = () => refusal(404, 'generation_not_found');

/** A step whose rows are of the generations of another service, an hour ago. */
async function lostStep(settings: Partial<Step['settings']> = {}, size = SIZE) {
	const step = new Step({ stopOnError: false, maxConcurrent: 5, ...settings });
	const table = new MemoryTable(step.time);
	const jobs = (changes = {}) =>
		Array.from({ length: size }, (_, index) => keyed(`p${index}`, index, `k${index}`, changes));
	await runKeyed(step, table, 'one', jobs());
	await step.time.run(step.time.sleep(3_600_000));
	const lost = step.fake.made.splice(0);
	const since = step.elapsed;
	step.fake.seen.length = 0;
	/** Runs the items again, and returns the virtual seconds and the requests that this takes. */
	const again = async (changes = {}) => {
		const result = await runKeyed(step, table, 'two', jobs(changes));
		const requests = step.fake.seen.map(({ method }) => method);
		expect(requests).not.toContain('POST');
		return { ...result, seconds: (step.elapsed - since) / 1000, requests: requests.length };
	};
	return { step, table, lost, again };
}

const noneOf = ({ outcomes }: Awaited<ReturnType<typeof runKeyed>>) =>
	outcomes.map((outcome) => errorIn(outcome).noneOf);

describe('a service that knows none of the generations on record', () => {
	it('is asked once for each, and four times more, within seven seconds', async () => {
		const { again } = await lostStep();
		const ran = await again();
		expect(noneOf(ran)).toEqual(Array(SIZE).fill(SIZE));
		expect(ran.requests).toBe(SIZE + 4);
		expect(ran.seconds).toBeLessThan(7);
		expect(ran.stats.spent).toBe(0);
	});

	it('ends a step that stops at its first error, whose other items name no charge', async () => {
		const { again } = await lostStep({ stopOnError: true });
		const ran = await again();
		expect(ran.seconds).toBeLessThan(7);
		const short = new Set(ran.outcomes.map((one) => inShort(one).split(' ').slice(0, 1).join()));
		expect([...short].sort()).toEqual(['generation_not_found', 'stopped']);
		const stopped = ran.outcomes.filter(({ kind }) => kind === 'stopped');
		expect(new Set(stopped.map(inShort))).toEqual(new Set(['stopped']));
	});

	it('ends at a Stop of the user at once', async () => {
		const { step, again } = await lostStep();
		step.stopAt(step.elapsed + 2000);
		const ran = await again();
		expect(ran.seconds).toBeLessThan(2.5);
		expect(new Set(ran.outcomes.map(({ kind }) => kind))).toEqual(new Set(['stopped']));
	});
});

describe('a service that is still asked with patience', () => {
	it.each([
		['one of the repeated responses is a success', 1, 15],
		['one response is the 404 page of a gateway', 1, 4],
	])('because %s', async (which, _, before) => {
		const { step, lost, again } = await lostStep();
		const gateway = () => ({ ...refusal(404, 'generation_not_found'), body: 'Not found' });
		step.fake.orderLooks(...Array(before).fill(unknown));
		if (which.includes('gateway')) step.fake.orderLooks(...Array(3).fill(gateway));
		step.fake.made.push(...lost);
		const { outcomes } = await again();
		expect(outcomes.map(inShort)).toEqual(lost.map(({ id }) => `completed ${id}`));
	});

	it('because it asks to wait, and then not before that time', async () => {
		const { step, lost, again } = await lostStep({ maxConcurrent: 2 });
		const asking = () => ({ ...refusal(429, 'rate_limited'), headers: { 'retry-after': '20' } });
		step.fake.orderLooks(asking, unknown);
		step.fake.made.push(...lost);
		const { outcomes } = await again();
		expect(outcomes.map(inShort)).toEqual(lost.map(({ id }) => `completed ${id}`));
		const [first, , ...later] = step.fake.seen.map(({ at }) => at);
		expect(Math.min(...later) - first).toBeGreaterThanOrEqual(20_000);
	});

	it('because the generation of a single item is unknown', async () => {
		const { again } = await lostStep({}, 1);
		const ran = await again();
		expect(noneOf(ran)).toEqual([null]);
		expect(ran.requests).toBe(7);
	});

	it('because it knows one of them, at no more requests than without the others', async () => {
		const { step, lost, again } = await lostStep();
		step.fake.made.push(lost[SIZE - 1]);
		const ran = await again();
		expect(inShort(ran.outcomes[SIZE - 1])).toBe(`completed ${lost[SIZE - 1].id}`);
		for (const outcome of ran.outcomes.slice(0, -1)) expect(errorIn(outcome).noneOf).toBeNull();
		expect(ran.requests).toBeLessThanOrEqual(SIZE + (SIZE - 1) * 7);
	});

	it('because a row has changed within the last minute, until it is older', async () => {
		const { step, table, again } = await lostStep();
		table.rows[3].changedAt = step.time.now() - 30_000;
		expect(noneOf(await again())).toEqual([...Array(5).fill(null), ...Array(7).fill(SIZE)]);
	});

	it('until a short timeout is over', async () => {
		const { again } = await lostStep();
		const ran = await again({ timeoutMs: 4_000 });
		expect(noneOf(ran)).toEqual(Array(SIZE).fill(null));
		expect(new Set(ran.outcomes.map((one) => errorIn(one).code))).toEqual(
			new Set(['generation_not_found']),
		);
	});

	it('until Timeout, however long the Poll Interval is', async () => {
		const { again } = await lostStep({ pollIntervalMs: 300_000, maxConcurrent: SIZE });
		const ran = await again({ timeoutMs: 60_000 });
		expect(noneOf(ran)).toEqual(Array(SIZE).fill(null));
		expect(ran.seconds).toBeLessThan(61);
	});

	it('with at most three calls of the whole roll, if proxies interrupt each', async () => {
		const { step, again } = await lostStep({ maxConcurrent: 1 });
		let looks = 0;
		const gateway = () => ({ ...refusal(404, 'generation_not_found'), body: 'Not found' });
		step.fake.orderLooks(...Array(5000).fill(() => (looks++ % 6 === 5 ? gateway() : unknown())));
		const ran = await again();
		expect(ran.requests).toBeLessThanOrEqual(SIZE * 7 + 3 * (SIZE + 4));
		expect(noneOf(ran)).toEqual(Array(SIZE).fill(null));
	});
});
