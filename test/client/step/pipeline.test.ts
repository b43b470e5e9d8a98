import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { GenerationError } from '../../../client/api/errors';
import type { Job } from '../../../client/jobs/job';
import { refused } from '../../support/fake-service';
import { batch, creating, errorIn, inShort, Step } from '../../support/step';

/** Returns the number of the prompt: `p12` is 12. */
function numberOf(prompt: string): number {
	return Number(prompt.slice(1));
}

describe('a batch', () => {
	it('returns its outputs in order, whichever generation ends first', async () => {
		const step = new Step();
		step.fake.durationMs = (prompt) => 50_000 - 10_000 * numberOf(prompt);
		const { outcomes, firstFailed } = await step.run(batch(5));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4, 5].map((n) => `completed generation-${n}`));
		expect(outcomes[2]).toMatchObject({ kind: 'done', output: 'file of generation-3' });
		expect(firstFailed).toBeNull();
	});

	it('never has more in flight than the maximum, and refills every slot at once', async () => {
		const durations = fc.array(fc.integer({ min: 1, max: 60_000 }), {
			minLength: 1,
			maxLength: 25,
		});
		await fc.assert(
			fc.asyncProperty(durations, fc.integer({ min: 1, max: 8 }), async (ms, maxConcurrent) => {
				const step = new Step({ maxConcurrent });
				step.fake.durationMs = (prompt) => ms[numberOf(prompt)];
				const inFlight = new Set<string>();
				const endSeenAt: number[] = [];
				step.finish = async (_, generation) => {
					inFlight.delete(generation.item.id);
					endSeenAt.push(step.time.now());
					return { generation, output: null };
				};
				step.fake.durationMs = (prompt) => {
					inFlight.add(`generation-${step.fake.made.length + 1}`);
					expect(inFlight.size).toBeLessThanOrEqual(maxConcurrent);
					return ms[numberOf(prompt)];
				};
				await step.run(batch(ms.length));
				const createdAt = step.fake.creating.map(({ at }) => at);
				const atFirst = createdAt.slice(0, maxConcurrent);
				expect(new Set(atFirst).size).toBe(1);
				const refilledAt = endSeenAt.slice(0, Math.max(0, ms.length - maxConcurrent));
				expect(createdAt.slice(maxConcurrent)).toEqual(refilledAt);
			}),
		);
	});

	it('keeps all slots of the account busy if its limit is lower than the maximum of the step', async () => {
		const step = new Step({ maxConcurrent: 10 });
		step.fake.slots = 4;
		const { outcomes, stats } = await step.run(batch(20));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		expect(step.fake.peak).toBe(4);
		expect(step.elapsed).toBeLessThan(5 * 10_000 + 5 * 3000);
		expect(stats.slotWaitMs).toBeGreaterThan(0);
		expect(stats.slotRefusal).toContain('4');
	});

	it('builds each request only when its job starts', async () => {
		const step = new Step({ maxConcurrent: 2 });
		const builtAt: number[] = [];
		const jobs = batch(4).map(
			(job): Job => ({
				...job,
				request: async () => {
					builtAt.push(step.elapsed);
					return await job.request();
				},
			}),
		);
		await step.run(jobs);
		expect(builtAt).toEqual([0, 0, 12_000, 12_000]);
	});

	it('counts created, reused and lost generations', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		step.fake.order('p3', refused(422, 'unsupported_parameter'));
		expect((await step.run(batch(4))).stats).toEqual({
			made: 3,
			reused: 0,
			retries: 0,
			resubmitted: 0,
			spent: { requests: 3, credits: 0, price: 0 },
			recreated: 0,
			balance: null,
			fellBack: 0,
			changed: [],
			statusRequests: 12,
			slotWaitMs: 0,
			slotRefusal: null,
		});
		step.fake.failure = () => undefined;
		expect((await step.runAgain(batch(4))).stats).toMatchObject({ made: 2, reused: 2 });
	});
});

describe('downloads', () => {
	it('overlap with all other work', async () => {
		const step = new Step({ maxConcurrent: 4 });
		step.finish = async (_, generation) => {
			await step.time.sleep(4000);
			return { generation, output: 'file' };
		};
		await step.run(batch(8));
		const secondRound = step.fake.creating[4].at - step.fake.creating[0].at;
		expect(secondRound).toBe(12_000);
		expect(step.elapsed).toBe(24_000 + 4000);
	});

	it('that fail are errors with the id and the URL, and the generation is charged', async () => {
		const step = new Step({ stopOnError: false });
		step.finish = async (_, generation) => {
			if (generation.item.id === 'generation-1') throw new TypeError('No space left');
			const { id, url } = generation.item;
			throw new GenerationError({ title: 'Broke off', description: `${id} ${url}`, code: 'x' });
		};
		const { outcomes } = await step.run(batch(2));
		expect(errorIn(outcomes[0])).toMatchObject({
			message: 'No space left',
			code: 'unexpected_error',
			charge: 'paid',
			generation: {
				id: 'generation-1',
				url: 'https://storage.example.com/outputs/generation-1.png',
			},
		});
		expect(errorIn(outcomes[1])).toMatchObject({
			code: 'x',
			charge: 'paid',
			generation: { id: 'generation-2' },
		});
	});
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A request is released after it was sent: a reference may have megabytes, and a wait may take half an hour. */
it('the request is not kept in memory during the wait', async () => {
	const step = new Step();
	step.fake.durationMs = () => 600_000;
	const bodies: Array<WeakRef<object>> = [];
	const request = async () => {
		const body = { prompt: 'a boat', inputs: [{ type: 'image', source: 'data', value: 'AAAA' }] };
		bodies.push(new WeakRef(body));
		return { type: 'image' as const, body };
	};
	let held = -1;
	step.time.at(step.time.now() + 300_000, () => {
		// The service's own list of requests.
		for (const seen of step.fake.seen) delete (seen as { body?: object }).body;
		collectGarbage();
		held = bodies.filter((body) => body.deref() !== undefined).length;
	});
	const jobs = [0, 1, 2].map((index) =>
		creating(`p${index}`, index, { timeoutMs: 1_800_000, request }),
	);
	const { outcomes } = await step.run(jobs);
	expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
	expect(bodies).toHaveLength(3);
	expect(held).toBe(0);
});

it('the files of an item are read only if it is sent', async () => {
	const step = new Step({ maxNewGenerations: 2, stopOnError: false });
	const read: number[] = [];
	const jobs = batch(10).map((job) => {
		const request = async () => {
			read.push(job.itemIndex);
			return await job.request();
		};
		return { ...job, request };
	});
	await step.run(jobs);
	expect(read).toEqual([0, 1]);
});
