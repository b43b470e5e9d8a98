import type { ServiceResponse } from '../../client/ports';
import type { CreateChanges } from '../support/step';
import { networkError, refusal } from '../support/answers';
import { refused, type Script } from '../support/fake-service';
import { keyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { sleepThrough } from '../support/sleeping-batch';
import { Step } from '../support/step';

/** Batches that sleep while the service, the network or a gateway is down. */

const GENERATION_SECONDS = 300;

interface Outage {
	/** What every request is answered with. */
	reply: ServiceResponse | Error;
	/** Default: requests of any kind. */
	on?: 'create';
	/** Seconds after the batch began. */
	from: number;
	seconds: number;
}

const down = networkError('ECONNREFUSED', 'connect');

/** Runs a batch of six items at a limit of three. */
async function during(
	{ reply, on, from, seconds }: Outage,
	changes: CreateChanges = {},
	count = 6,
) {
	const step = new Step({ maxConcurrent: 3, stopOnError: false });
	const { fake, time } = step;
	fake.slots = 3;
	fake.durationMs = () => GENERATION_SECONDS * 1000;
	const began = time.now();
	const until = began + (from + seconds) * 1000;
	const duringOutage: Script = (make) => {
		if (time.now() >= until) return make();
		if (reply instanceof Error) throw reply;
		return reply;
	};
	time.at(began + from * 1000, () => {
		if (on === undefined) fake.replies = [reply];
		const scripts = Array.from({ length: 1_000 }, () => duringOutage);
		for (const prompt of ['p3', 'p4', 'p5']) fake.order(prompt, ...scripts);
	});
	time.at(until, () => (fake.replies = []));
	const jobs = Array.from({ length: count }, (_, item) =>
		keyed(`p${item}`, item, `k${item}`, { timeoutMs: 3_600_000, ...changes }),
	);
	const night = await time.run(sleepThrough(step, new MemoryTable(time), jobs));
	const codes = jobs.map((_, item) => {
		const error = night.settled[item];
		return error === null ? 'ended' : error?.code;
	});
	return { ...night, step, codes, seconds: (time.now() - began) / 1000 };
}

const all = (what: string) => Array.from({ length: 6 }, () => what);

const outages: Array<[what: string, reply: ServiceResponse | Error]> = [
	['no connection', down],
	['503 of the service', refusal(503, 'service_unavailable')],
	['a page of a gateway with 502', { status: 502, body: '<html>Bad gateway</html>' }],
	['a page of a gateway with 404', { status: 404, body: '<html>Not found</html>' }],
	['a page of a gateway with 429', { status: 429, body: '<html>Slow down</html>' }],
];

describe('an outage of five minutes while a wave is awake', () => {
	it.each(outages)('ends no item that is running: %s', async (_, reply) => {
		// All three end at 300 s, and the next wave checks them then.
		const { codes, step } = await during({ reply, from: 250, seconds: 300 }, {}, 3);
		expect(codes).toEqual(all('ended').slice(0, 3));
		expect(step.fake.made).toHaveLength(3);
	});

	it('ends no item that was not sent: nothing was charged for it', async () => {
		const { codes, step } = await during({
			reply: refusal(503, 'service_unavailable'),
			on: 'create',
			from: 250,
			seconds: 600,
		});
		expect(codes).toEqual(all('ended'));
		expect(step.fake.made).toHaveLength(6);
		expect(step.fake.creating.length).toBeGreaterThan(6 + 3 * 6);
	});

	it('ends no item of a batch that stops on errors', async () => {
		const step = new Step({ maxConcurrent: 3, stopOnError: true });
		step.fake.durationMs = () => GENERATION_SECONDS * 1000;
		const began = step.time.now();
		step.time.at(began + 250_000, () => (step.fake.replies = [down]));
		step.time.at(began + 550_000, () => (step.fake.replies = []));
		const jobs = [0, 1, 2, 3, 4, 5].map((item) =>
			keyed(`p${item}`, item, `k${item}`, { timeoutMs: 3_600_000 }),
		);
		const night = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
		expect(Object.values(night.settled)).toEqual(jobs.map(() => null));
		expect(step.fake.made).toHaveLength(6);
	});
});

it('leaves out the last items of a batch with a limit, although an outage delays the first', async () => {
	const settings = { maxConcurrent: 1, stopOnError: true, maxNewGenerations: 2 };
	const step = new Step(settings);
	step.fake.durationMs = () => GENERATION_SECONDS * 1000;
	const isDown: Script = () => refusal(503, 'service_unavailable');
	step.fake.order('p0', ...Array.from({ length: 8 }, () => isDown));
	const jobs = [0, 1, 2, 3].map((item) =>
		keyed(`p${item}`, item, `k${item}`, { timeoutMs: 3_600_000 }),
	);
	await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
	expect(step.fake.made.map(({ prompt }) => prompt)).toEqual(['p0', 'p1']);
});

describe('an outage that does not end', () => {
	it('ends the items at their timeout, with the error, the ID and no other charge', async () => {
		const { codes, settled, step, seconds } = await during(
			{ reply: down, from: 250, seconds: 100_000 },
			{ timeoutMs: 1_800_000 },
			3,
		);
		expect(codes).toEqual(all('timeout').slice(0, 3));
		const ids = step.fake.made.map(({ id }) => id);
		expect(Object.values(settled).map((error) => [error?.generation?.id, error?.charge])).toEqual(
			ids.map((id) => [id, 'paid']),
		);
		expect(seconds).toBeGreaterThan(1_790);
		expect(seconds).toBeLessThan(2_400);
	});

	it('does not end items with an error if On Timeout continues', async () => {
		const { codes } = await during(
			{ reply: down, from: 250, seconds: 100_000 },
			{ timeoutMs: 1_800_000, onTimeout: 'continue' },
			3,
		);
		expect(codes).toEqual(all('ended').slice(0, 3));
	});

	it('ends items that were never sent after as long a time, at no charge', async () => {
		const { settled, step, seconds } = await during(
			{ reply: down, on: 'create', from: 250, seconds: 100_000 },
			{ timeoutMs: 1_800_000 },
		);
		const unsent = [3, 4, 5].map((item) => settled[item]);
		expect(unsent.map((error) => [error?.code, error?.charge])).toEqual(
			unsent.map(() => ['connection_failed', 'none']),
		);
		expect(step.fake.made).toHaveLength(3);
		expect(seconds).toBeGreaterThan(GENERATION_SECONDS + 1_700);
		expect(seconds).toBeLessThan(GENERATION_SECONDS + 3_000);
	});

	it('holds a worker for less than half of the time', async () => {
		const { awakeMs, seconds } = await during({ reply: down, from: 250, seconds: 100_000 }, {}, 3);
		expect(awakeMs / 1000 / seconds).toBeLessThan(0.5);
	});
});

it.each([
	['a rejected API key', refusal(401, 'expired_api_key')],
	['a generation that the service does not know', refusal(404, 'generation_not_found')],
])('%s ends the items long before their timeout', async (_, reply) => {
	const outage = { reply, from: 250, seconds: 100_000 };
	const { codes, seconds } = await during(outage, {}, 3);
	expect(codes).not.toContain('ended');
	expect(seconds).toBeLessThan(900);
});

it('an item whose request fails again and again does not keep the others from their turn', async () => {
	const step = new Step({ maxConcurrent: 1, stopOnError: false });
	step.fake.durationMs = () => GENERATION_SECONDS * 1000;
	step.fake.order('p0', ...Array.from({ length: 200 }, () => refused(500, 'server_error')));
	const jobs = [0, 1, 2].map((item) =>
		keyed(`p${item}`, item, `k${item}`, { timeoutMs: 1_800_000 }),
	);
	const night = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
	expect(Object.values(night.settled).map((error) => error?.code)).toEqual([
		'server_error',
		undefined,
		undefined,
	]);
	const [, second, third] = jobs.map(
		(__, item) => step.fake.creating.find(({ prompt }) => prompt === `p${item}`)?.at ?? 0,
	);
	expect(third - second).toBeLessThan(600_000);
});
