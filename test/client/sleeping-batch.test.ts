import type { Row } from '../../client/jobs/row';
import type { ServiceResponse } from '../../client/ports';
import { newRow } from '../../client/orders/table';
import { networkError, refusal } from '../support/answers';
import { refused, type Script } from '../support/fake-service';
import { keyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { sleepThrough } from '../support/sleeping-batch';
import { Step, type CreateChanges } from '../support/step';
import { videosAsleep } from '../support/videos';

/** Batches that sleep, in virtual time. */

it.each([
	[300, 0.9],
	[120, 0.8],
])('generations of %d s keep %d of the slots busy', async (seconds, least) => {
	const night = await videosAsleep({ items: 200, limit: 10, seconds, spread: 0.25 });
	expect(night).toMatchObject({ made: 200, failed: 0 });
	expect(night.used).toBeGreaterThan(least);
	if (seconds === 300) expect(night.held).toBeLessThan(0.15);
});

const GENERATION_MS = 300_000;

const asking = (response: ServiceResponse, seconds: number): ServiceResponse => ({
	...response,
	headers: { 'retry-after': String(seconds) },
});

interface Night {
	items: number;
	slots: number;
	/** The idempotency key of an item. */
	keyOf?: (item: number) => string;
	changes?: CreateChanges;
	prepare?: (step: Step) => void;
}

/** Runs a batch, and returns the part of the time for which a worker was held. */
async function held({ items, slots, keyOf = String, changes, prepare }: Night) {
	const step = new Step({ maxConcurrent: 10, stopOnError: false });
	step.fake.slots = slots;
	step.fake.durationMs = () => GENERATION_MS;
	prepare?.(step);
	const jobs = Array.from({ length: items }, (_, item) =>
		keyed(`p${item}`, item, keyOf(item), { timeoutMs: 600_000, ...changes }),
	);
	const night = await step.time.run(sleepThrough(step, new MemoryTable(step.time), jobs));
	const errors = Object.values(night.settled).filter((error) => error !== null);
	return {
		step,
		errors,
		ended: Object.keys(night.settled).length,
		part: night.awakeMs / step.elapsed,
	};
}

it.each([0, 30, 120])(
	'a full account that says Retry-After: %d holds no worker',
	async (seconds) => {
		const { errors, ended, part, step } = await held({
			...{ items: 40, slots: 5 },
			prepare: ({ fake }) => {
				const send = fake.send;
				Object.assign(fake, {
					send: async (...args: Parameters<typeof send>) => {
						const response = await send(...args);
						return response.status === 429 && seconds > 0 ? asking(response, seconds) : response;
					},
				});
			},
		});
		expect([errors, ended, step.fake.made.length]).toEqual([[], 40, 40]);
		expect(part).toBeLessThan(0.1);
	},
);

it('no item gives up while other work fills the account for half an hour', async () => {
	const { errors, ended, part } = await held({
		...{ items: 3, slots: 3 },
		prepare: ({ fake, time }) => {
			const until = time.now() + 1_800_000;
			fake.others = () => (time.now() < until ? 3 : 0);
		},
	});
	expect([errors, ended]).toEqual([[], 3]);
	expect(part).toBeLessThan(0.15);
});

it('items that wait at a spending limit hold no worker', async () => {
	const { ended, part, step } = await held({
		...{ items: 12, slots: 8, changes: { timeoutMs: 3_600_000 } },
		prepare: ({ fake, settings }) => {
			fake.durationMs = () => 1_200_000;
			Object.assign(settings, { maxConcurrent: 12, maxNewGenerations: 10 });
		},
	});
	expect([ended, step.fake.made.length]).toEqual([12, 10]);
	expect(part).toBeLessThan(0.1);
});

it('an item whose responses are lost is sent again three times, although it waits for slots in between', async () => {
	const { errors, step } = await held({
		...{ items: 6, slots: 2, changes: { onUncertainCharge: 'resubmit', timeoutMs: 7_200_000 } },
		prepare: ({ fake }) => {
			const lostIfMade: Script = (make) => {
				const response = make();
				if (response.status === 429) return response;
				throw networkError('ECONNRESET');
			};
			fake.order('p0', ...Array<Script>(500).fill(lostIfMade));
		},
	});
	expect(errors).toMatchObject([{ code: 'uncertain_charge' }]);
	expect(step.fake.made.filter(({ prompt }) => prompt === 'p0')).toHaveLength(4);
});

it('pairs of items with one key rest like single items, and send no more requests', async () => {
	const { errors, part, step } = await held({
		...{ items: 40, slots: 3 },
		keyOf: (item) => `k${item >> 1}`,
	});
	expect(errors).toEqual([]);
	expect(step.fake.made).toHaveLength(20);
	expect(step.fake.creating.length).toBeLessThan(100);
	expect(part).toBeLessThan(0.15);
});

it.each<[string, ServiceResponse]>([
	['a status check', refusal(503, 'service_unavailable')],
	['a creating request', refusal(429, 'too_many')],
])('%s that is told to wait lets the batch rest', async (what, response) => {
	const asked = asking(response, 1_700);
	const { errors, ended, part } = await held({
		...{ items: 4, slots: 2, changes: { timeoutMs: 7_200_000 } },
		prepare: ({ fake, time }) => {
			if (what === 'a creating request') {
				fake.order('p3', () => asked);
				return;
			}
			time.at(time.now() + 200_000, () => fake.orderLooks(() => asked));
		},
	});
	expect([errors, ended]).toEqual([[], 4]);
	expect(part).toBeLessThan(0.15);
});

describe('an outage while a wave is awake', () => {
	/** Answers every request like this between two times, in seconds after the start. */
	const answering =
		(reply: ServiceResponse | Error, from: number, until: number) =>
		({ fake, time }: Step) => {
			time.at(time.now() + from * 1000, () => (fake.replies = [reply]));
			time.at(time.now() + until * 1000, () => (fake.replies = []));
		};
	const nobody = networkError('ECONNREFUSED', 'connect');

	it.each<[string, ServiceResponse | Error, number]>([
		['no connection', nobody, 6],
		['503 of the service', refusal(503, 'service_unavailable'), 6],
		// A gateway says nothing about creating requests, so all are sent before.
		['a page of a gateway', { status: 502, body: '<html>Bad gateway</html>' }, 3],
	])('ends no item if it passes: %s', async (_, reply, items) => {
		const { errors, ended, step } = await held({
			...{ items, slots: 3, changes: { timeoutMs: 3_600_000 } },
			prepare: answering(reply, 250, 550),
		});
		expect([errors, ended, step.fake.made.length]).toEqual([[], items, items]);
	});

	it('ends the items at their timeout if it does not pass, and holds no worker until then', async () => {
		const { errors, part, step } = await held({
			...{ items: 3, slots: 3, changes: { timeoutMs: 1_800_000 } },
			prepare: answering(nobody, 250, 100_000),
		});
		expect(errors.map((error) => [error?.code, error?.charge, error?.generation?.id])).toEqual(
			step.fake.made.map(({ id }) => ['timeout', 'paid', id]),
		);
		expect(step.elapsed).toBeGreaterThan(1_790_000);
		expect(step.elapsed).toBeLessThan(2_400_000);
		expect(part).toBeLessThan(0.5);
	});

	it('ends the items long before their timeout if the API key is rejected', async () => {
		const { errors, step } = await held({
			...{ items: 3, slots: 3 },
			prepare: answering(refusal(401, 'expired_api_key'), 250, 100_000),
		});
		expect(errors).toHaveLength(3);
		expect(step.elapsed).toBeLessThan(900_000);
	});
});

it('a refused item begins no outage: minutes later, another one is sent again after a 503', async () => {
	const step = new Step({ stopOnError: false });
	step.fake.order('p0', refused(400, 'invalid_prompt'));
	step.fake.order('p1', refused(503, 'service_unavailable'));
	const table = new MemoryTable(step.time);
	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'another' };
	const dead = { id: 1, status: 'sent', writer: 'x', changedAt: step.time.now() };
	table.rows.push({ ...newRow(scope, 'k'), ...dead });
	const waits = { onUncertainCharge: 'resubmit', timeoutMs: 100_000 } as const;
	const jobs = [keyed('p0', 0, 'a'), keyed('p1', 1, 'k', waits)];
	const { settled } = await step.time.run(sleepThrough(step, table, jobs));
	expect([settled[0]?.code, settled[1]]).toEqual(['invalid_prompt', null]);
});

/** Runs a batch whose last wave was killed after it had claimed the key of its only item. */
async function afterKilledWave(onUncertainCharge: 'error' | 'resubmit') {
	const step = new Step({ stopOnError: false });
	const table = new MemoryTable(step.time);
	const scope = { workflowId: 'w', nodeId: 'n', executionId: 'batch' };
	const claimed = { status: 'sent', writer: 'token/killed/1', changedAt: step.time.now(), id: 1 };
	table.rows.push({ ...newRow(scope, 'k'), ...claimed });
	const job = keyed('p0', 0, 'k', { onUncertainCharge, timeoutMs: 600_000 });
	const { settled } = await step.time.run(sleepThrough(step, table, [job]));
	return { step, code: settled[0]?.code ?? settled[0] };
}

it('a request of a killed wave is uncertain at once: the waves of a batch follow each other', async () => {
	const { step, code } = await afterKilledWave('error');
	expect([code, step.fake.creating]).toEqual(['uncertain_charge', []]);
	expect(step.elapsed).toBeLessThan(5_000);
});

it('a request of a killed wave is sent again after two minutes, with Send Again: the wave may still live', async () => {
	const { step, code } = await afterKilledWave('resubmit');
	const [sent] = step.fake.creating;
	expect([code, step.fake.creating.length]).toEqual([null, 1]);
	expect(sent.at - step.time.now() + step.elapsed).toBeGreaterThan(115_000);
});

it.each<[string, number, string | null]>([
	['gets its response after 100 s', 100_000, null],
	['has died', Infinity, 'uncertain_charge'],
])(
	'an item whose key another execution sends holds no worker: that one %s',
	async (_, ms, code) => {
		const step = new Step({ stopOnError: false });
		const { fake, time } = step;
		const table = new MemoryTable(time);
		const scope = { workflowId: 'w', nodeId: 'n', executionId: 'another' };
		const claimed = { ...newRow(scope, 'k'), id: 1, status: 'sent', writer: 'x' };
		const row: Row = { ...claimed, changedAt: time.now() };
		table.rows.push(row);
		const post = {
			method: 'POST',
			path: '/v1/images/generations',
			body: { prompt: 'p0' },
		} as const;
		await time.run(fake.send(post));
		const written = { generation_id: 'generation-1', status: 'pending' };
		time.at(time.now() + ms, () => Object.assign(row, written, { changedAt: time.now() }));
		const job = keyed('p0', 0, 'k', { timeoutMs: 3_600_000 });
		const { awakeMs, settled } = await time.run(sleepThrough(step, table, [job]));
		expect([settled[0]?.code ?? null, fake.creating.length]).toEqual([code, 1]);
		expect(step.elapsed).toBeGreaterThan(Math.min(ms, 120_000));
		expect(awakeMs / step.elapsed).toBeLessThan(0.15);
	},
);
