import { refusal } from '../support/answers';
import { keyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { sleepThrough } from '../support/sleeping-batch';
import { Step, type CreateChanges } from '../support/step';
import type { ServiceResponse } from '../../client/ports';

/** Batches whose items wait for something else than an end: they rest as well. */

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
