import fc from 'fast-check';

import { GenerationError } from '../../client/errors';
import type { Job } from '../../client/job';
import { refusal } from '../support/answers';
import { answerLost, refused } from '../support/fake-service';
import { batch, creating, errorIn, inShort, Step, waitingFor } from '../support/step';

/** The prompt's number: `p12` is 12. */
function numberOf(prompt: string): number {
	return Number(prompt.slice(1));
}

describe('a batch', () => {
	it('comes out in its order, whichever generation ends first', async () => {
		const step = new Step();
		step.fake.durationMs = (prompt) => 50_000 - 10_000 * numberOf(prompt);
		const { outcomes, firstFailed } = await step.run(batch(5));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4, 5].map((n) => `completed generation-${n}`));
		expect(outcomes[2]).toMatchObject({ kind: 'done', output: 'file of generation-3' });
		expect(firstFailed).toBeNull();
	});

	it('of nothing is nothing, and sends nothing', async () => {
		const step = new Step();
		expect(await step.run([])).toEqual({
			outcomes: [],
			firstFailed: null,
			stats: { made: 0, takenUp: 0, failed: 0, slotWaitMs: 0, slotRefusal: null },
		});
		expect(step.fake.seen).toEqual([]);
	});

	it('never has more in flight than it may, and refills every slot at once', async () => {
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
			{ numRuns: 30 },
		);
	});

	it('takes as long as the service needs for it, and the looks', async () => {
		const sizes = fc.integer({ min: 1, max: 60 });
		await fc.assert(
			fc.asyncProperty(sizes, fc.integer({ min: 1, max: 12 }), async (size, maxConcurrent) => {
				const step = new Step({ maxConcurrent });
				step.pollIntervalMs = 1000;
				await step.run(batch(size));
				const rounds = Math.ceil(size / maxConcurrent);
				expect(step.elapsed).toBeGreaterThanOrEqual(rounds * 10_000);
				expect(step.elapsed).toBeLessThanOrEqual(rounds * 11_000);
			}),
			{ numRuns: 20 },
		);
	});

	it('keeps the account’s limit busy where that is below its own', async () => {
		const step = new Step({ maxConcurrent: 10 });
		step.fake.slots = 4;
		const { outcomes, stats } = await step.run(batch(20));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		expect(step.fake.peak).toBe(4);
		expect(step.elapsed).toBeLessThan(5 * 10_000 + 5 * 3000);
		expect(stats.slotWaitMs).toBeGreaterThan(0);
		expect(stats.slotRefusal).toContain('4');
	});

	it('asks for a slot again as soon as it sees one of its own generations end', async () => {
		const step = new Step({ maxConcurrent: 2 });
		step.pollIntervalMs = 100;
		step.fake.slots = 1;
		step.fake.durationMs = () => 20_050;
		await step.run(batch(3));
		const [first, second, third] = step.fake.made;
		expect(second.startedAt - first.endsAt).toBeLessThanOrEqual(100);
		expect(third.startedAt - second.endsAt).toBeLessThanOrEqual(100);
	});

	it('keeps the slots busy while one item waits for its model to come back', async () => {
		const took = async (outages: number) => {
			const step = new Step({ stopOnError: false });
			step.fake.slots = 4;
			const down = Array.from({ length: outages }, () => refused(502, 'model_unavailable'));
			step.fake.order('p12', ...down);
			const { outcomes } = await step.run(batch(20));
			expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'done'));
			const last = step.fake.made.filter(({ prompt }) => prompt !== 'p12').pop();
			return (last?.endsAt ?? 0) - (step.time.now() - step.elapsed);
		};
		expect(await took(5)).toBeLessThan(1.1 * (await took(0)));
	});

	it('comes through however the slots of the account come and go', async () => {
		const taken = fc.array(fc.nat(3), { minLength: 1, maxLength: 12 });
		await fc.assert(
			fc.asyncProperty(taken, async (others) => {
				const step = new Step({ maxConcurrent: 6 });
				const beginning = step.time.now();
				step.fake.slots = 3;
				step.fake.others = () => others[Math.floor((step.time.now() - beginning) / 15_000)] ?? 0;
				const { outcomes } = await step.run(batch(9));
				expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
				expect(step.fake.made).toHaveLength(9);
			}),
			{ numRuns: 20 },
		);
	});

	it('builds each request when its turn has come, not before', async () => {
		const step = new Step({ maxConcurrent: 2 });
		const builtAt: number[] = [];
		const jobs = batch(4).map(
			(job): Job => ({
				...job,
				request: async () => {
					builtAt.push(step.elapsed);
					return await (job.request as NonNullable<Job['request']>)();
				},
			}),
		);
		await step.run(jobs);
		expect(builtAt).toEqual([0, 0, 12_000, 12_000]);
	});

	it('counts what it made, took up and lost', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		step.fake.order('p3', refused(422, 'unsupported_parameter'));
		expect((await step.run(batch(4))).stats).toEqual({
			made: 3,
			takenUp: 0,
			failed: 1,
			slotWaitMs: 0,
			slotRefusal: null,
		});
		step.fake.failure = () => undefined;
		expect((await step.runAgain(batch(4))).stats).toMatchObject({ made: 2, takenUp: 2, failed: 0 });
	});
});

describe('waiting', () => {
	it('looks at a generation until it has ended, counting the looks from 1', async () => {
		const step = new Step();
		await step.run(batch(1));
		expect(step.looks.map(({ looks }) => looks)).toEqual([1, 2, 3, 4]);
		expect(step.elapsed).toBe(12_000);
	});

	it('is not needed for a generation that is handed on as it is', async () => {
		const step = new Step({ maxConcurrent: 2 });
		const { outcomes } = await step.run(batch(5, { wait: false }));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4, 5].map((n) => `pending generation-${n}`));
		expect([step.elapsed, step.looks.length]).toEqual([0, 0]);
	});

	it('begins with a look at once for ids that are given', async () => {
		const step = new Step();
		await step.run(batch(3, { wait: false }));
		step.fake.seen.length = 0;
		const ids = ['generation-2', 'generation-1', 'generation-3'];
		const { outcomes } = await step.runAgain(ids.map((id, index) => waitingFor(id, index)));
		expect(outcomes.map(inShort)).toEqual(ids.map((id) => `completed ${id}`));
		expect(step.fake.creating).toEqual([]);
		const atOnce = step.fake.seen.filter(({ at }) => at === step.fake.seen[0].at);
		expect(atOnce).toHaveLength(3);
		expect(outcomes[0]).toMatchObject({ output: 'file of generation-2' });
	});

	it('is not needed for ids that are only looked at, whatever their status', async () => {
		const step = new Step();
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		await step.run(batch(2, { wait: false }));
		await step.time.run(step.time.sleep(20_000));
		await step.runAgain([creating('p9', 9, { wait: false })]);
		const { outcomes } = await step.runAgain(
			[1, 2, 3].map((n) => waitingFor(`generation-${n}`, n, { wait: false })),
		);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'failed generation-2',
			'processing generation-3',
		]);
	});

	it('goes on beside creating', async () => {
		const step = new Step();
		await step.run([creating('early', 0, { wait: false })]);
		const jobs = [creating('p0', 0), waitingFor('generation-1', 1), creating('p2', 2)];
		const { outcomes, stats } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-2',
			'completed generation-1',
			'completed generation-3',
		]);
		expect(stats.made).toBe(2);
	});

	it('goes on through errors that pass', async () => {
		const step = new Step();
		step.fake.orderLooks(() => refusal(503, 'service_unavailable'));
		const { outcomes } = await step.run(batch(1));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
	});

	it('for what is neither an id nor a request is a mistake of ours, and is said', async () => {
		const step = new Step();
		const { outcomes } = await step.run([{ ...waitingFor('', 0), id: undefined }]);
		expect(errorIn(outcomes[0])).toMatchObject({ code: 'unexpected_error', charge: 'none' });
	});
});

describe('a timeout', () => {
	it('is an error that names the generation, which is paid for', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		const { outcomes } = await step.run(batch(1, { timeoutMs: 31_000 }));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'timeout',
			charge: 'paid',
			generation: { id: 'generation-1', status: 'processing' },
		});
		expect(step.elapsed).toBe(31_000);
	});

	it('hands the generation on as it stands where the step is to continue', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		const jobs = batch(1, { timeoutMs: 31_000, onTimeout: 'continue' });
		const { outcomes, firstFailed } = await step.run(jobs);
		expect(outcomes[0]).toMatchObject({
			kind: 'done',
			generation: { id: 'generation-1', status: 'processing', timed_out: true },
		});
		expect(firstFailed).toBeNull();
	});

	it.each([
		['continue', 13_000, 'done'],
		['continue', 600_000, 'error'],
		['error', 13_000, 'error'],
	] as const)(
		'during an outage is what ends the waiting: %s, %d ms',
		async (onTimeout, timeoutMs, kind) => {
			const step = new Step();
			step.fake.durationMs = () => 900_000;
			const outage = Array.from({ length: 7 }, () => () => refusal(503, 'service_unavailable'));
			step.fake.orderLooks(() => undefined, ...outage);
			const { outcomes } = await step.run(batch(1, { timeoutMs, onTimeout }));
			expect(outcomes[0]).toMatchObject(
				kind === 'done'
					? { kind, generation: { id: 'generation-1', status: 'processing', timed_out: true } }
					: { kind, error: { code: 'service_unavailable', charge: 'paid' } },
			);
		},
	);

	it('comes after a last look: what ends just in time is completed', async () => {
		const step = new Step();
		step.fake.durationMs = () => 31_000;
		const { outcomes } = await step.run(batch(1, { timeoutMs: 31_000 }));
		expect(outcomes[0]).toMatchObject({ generation: { status: 'completed', timed_out: false } });
	});

	it('counts for each generation from its own beginning', async () => {
		const step = new Step({ maxConcurrent: 1 });
		const { outcomes } = await step.run(batch(5, { timeoutMs: 13_000 }));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
	});

	it('counts from before the step where the waiting began before it', async () => {
		const step = new Step();
		step.fake.durationMs = () => 100_000;
		await step.run(batch(1, { wait: false }));
		const waitingSinceMs = step.time.now() - 25_000;
		const jobs = [waitingFor('generation-1', 0, { timeoutMs: 30_000, waitingSinceMs })];
		expect((await step.runAgain(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		expect(step.elapsed).toBe(5000);
	});

	it('does not keep a slot of the step', async () => {
		const step = new Step({ maxConcurrent: 1, stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 1_000_000 : 1000);
		const { outcomes } = await step.run(batch(2, { timeoutMs: 20_000 }));
		expect(outcomes.map(inShort)).toEqual(['timeout generation-1', 'completed generation-2']);
	});
});

describe('a generation that fails', () => {
	it('is an error with its reason, refunded, and the others go on', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		const { outcomes, firstFailed } = await step.run(batch(3));
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'generation_failed generation-2',
			'completed generation-3',
		]);
		expect(errorIn(outcomes[1])).toMatchObject({
			message: 'The generation failed. out of paint',
			charge: 'refunded',
			generation: { status: 'failed' },
		});
		expect(firstFailed?.itemIndex).toBe(1);
	});

	it('frees its slot at once', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.slots = 1;
		step.fake.failure = () => 'out of paint';
		const { outcomes } = await step.run(batch(3));
		expect(outcomes).toHaveLength(3);
		expect(step.elapsed).toBeLessThanOrEqual(3 * 13_000);
	});
});

describe('a later try', () => {
	it('takes up all that is paid for, and pays for nothing twice', async () => {
		const step = new Step();
		step.stopAt(5000);
		await step.run(batch(4));
		const { outcomes, stats } = await step.runAgain(batch(4));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3, 4].map((n) => `completed generation-${n}`));
		expect([step.fake.made.length, stats.takenUp]).toEqual([4, 4]);
	});

	it('makes anew what has failed, and a request that was changed', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p0' ? 'out of paint' : undefined);
		await step.run(batch(3));
		step.fake.failure = () => undefined;
		const { outcomes } = await step.runAgain([...batch(2), creating('changed', 2)]);
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-4',
			'completed generation-2',
			'completed generation-5',
		]);
	});

	it('waits the whole timeout again for what it has taken up', async () => {
		const step = new Step();
		step.fake.durationMs = () => 50_000;
		const jobs = batch(1, { timeoutMs: 30_000 });
		expect((await step.run(jobs)).outcomes.map(inShort)).toEqual(['timeout generation-1']);
		const again = await step.runAgain(jobs);
		expect(again.outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.made).toHaveLength(1);
	});

	it('names what is paid for, even where it does not come to it', async () => {
		const step = new Step({ maxConcurrent: 1, stopOnError: false });
		await step.run(batch(3, { wait: false }));
		step.settings.stopOnError = true;
		const unbuilt = async () => await Promise.reject(new TypeError('No such file'));
		const [first, second, third] = batch(3);
		const { outcomes } = await step.runAgain([{ ...first, request: unbuilt }, second, third]);
		expect(errorIn(outcomes[0])).toMatchObject({
			message: 'No such file',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(outcomes.slice(1).map(inShort)).toEqual([
			'stopped generation-2',
			'stopped generation-3',
		]);
	});

	it('keeps the statuses that it has seen', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.failure = (prompt) => (prompt === 'p0' ? 'out of paint' : undefined);
		await step.run(batch(2));
		expect(Object.values(step.kept)).toEqual([
			{ id: 'generation-1', status: 'failed' },
			{ id: 'generation-2', status: 'completed' },
		]);
	});
});

describe('an error that every further request would meet', () => {
	it('is told of each item that was not sent for it; what is in flight comes to its end', async () => {
		const step = new Step({ maxConcurrent: 2, stopOnError: false });
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 5000 : 60_000);
		step.fake.order('p2', refused(402, 'insufficient_credits'));
		const { outcomes, firstFailed } = await step.run(batch(6));
		expect(outcomes.map(inShort)).toEqual([
			'completed generation-1',
			'completed generation-2',
			...Array.from({ length: 4 }, () => 'insufficient_credits'),
		]);
		expect(errorIn(outcomes[2]).message).toBe('Not enough credits');
		expect(errorIn(outcomes[5]).message).toBe('Not sent: Not enough credits (item 2)');
		expect(firstFailed?.itemIndex).toBe(2);
		expect(step.fake.creating).toHaveLength(3);
	});
});

describe('the first error of a step that stops', () => {
	it('ends it: nothing more is sent, and what is in flight is named', async () => {
		const step = new Step({ maxConcurrent: 3 });
		step.fake.failure = (prompt) => (prompt === 'p1' ? 'out of paint' : undefined);
		step.fake.durationMs = (prompt) => (prompt === 'p1' ? 5000 : 60_000);
		const { outcomes, firstFailed } = await step.run(batch(6));
		expect(outcomes.map(inShort)).toEqual([
			'stopped generation-1',
			'generation_failed generation-2',
			'stopped generation-3',
			'stopped',
			'stopped',
			'stopped',
		]);
		expect(firstFailed?.itemIndex).toBe(1);
		expect([step.elapsed, step.fake.creating.length]).toEqual([6000, 3]);
	});

	it('lets what is under way come to its id', async () => {
		const step = new Step({ maxConcurrent: 3 });
		step.fake.latencyMs = 500;
		step.fake.order('p0', refused(422, 'unsupported_parameter'));
		const jobs = [
			creating('p0', 0),
			{
				...creating('p1', 1),
				request: async () => {
					await step.time.sleep(300);
					return { type: 'image' as const, body: { prompt: 'p1' } };
				},
			},
		];
		const { outcomes } = await step.run(jobs);
		expect(outcomes.map(inShort)).toEqual(['unsupported_parameter', 'stopped generation-1']);
		expect(step.elapsed).toBe(800);
	});

	it('keeps the ids that were given of what was not looked at any more', async () => {
		const step = new Step({ maxConcurrent: 1 });
		const { outcomes } = await step.run([waitingFor('missing', 0), waitingFor('next', 1)]);
		expect(outcomes.map(inShort)).toEqual(['generation_not_found', 'stopped next']);
		expect(step.fake.seen).toHaveLength(1);
	});

	it('ends the waiting for a slot', async () => {
		const step = new Step({ maxConcurrent: 3 });
		step.fake.slots = 1;
		step.fake.durationMs = () => 8000;
		step.fake.failure = () => 'out of paint';
		const { outcomes } = await step.run(batch(3));
		expect(outcomes.map(inShort)).toEqual(['generation_failed generation-1', 'stopped', 'stopped']);
	});

	it('ends downloads', async () => {
		const step = new Step();
		step.fake.failure = (prompt) => (prompt === 'p0' ? 'out of paint' : undefined);
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 20_000 : 1000);
		let aborted = 0;
		step.finish = async (_, generation, signal) => {
			await step.time.sleep(3_600_000, signal);
			if (signal.aborted) aborted++;
			return { generation, output: null };
		};
		await step.run(batch(6));
		expect([aborted, step.elapsed]).toEqual([3, 21_000]);
	});
});

describe('downloads', () => {
	it('overlap with everything else, and are bounded', async () => {
		const step = new Step({ maxConcurrent: 4, maxFinishing: 2 });
		let finishing = 0;
		let most = 0;
		step.finish = async (_, generation) => {
			most = Math.max(most, ++finishing);
			await step.time.sleep(4000);
			finishing--;
			return { generation, output: 'file' };
		};
		await step.run(batch(8));
		expect(most).toBe(2);
		const secondRound = step.fake.creating[4].at - step.fake.creating[0].at;
		expect(secondRound).toBe(12_000);
		expect(step.elapsed).toBe(24_000 + 2 * 4000);
	});

	it('hand on the generation as last seen: its URL may be a fresh one', async () => {
		const step = new Step();
		step.finish = async (_, { item, ...rest }) => ({
			generation: { ...rest, item: { ...item, url: 'https://storage.example.com/fresh' } },
			output: 'file',
		});
		const { outcomes } = await step.run(batch(1));
		expect(outcomes[0]).toMatchObject({
			generation: { id: 'generation-1', url: 'https://storage.example.com/fresh' },
			output: 'file',
		});
	});

	it('that fail are errors with the id and the URL, paid for', async () => {
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

describe('an error carries what is known of the generation', () => {
	it('made by this step and not to be looked at any more', async () => {
		const step = new Step();
		step.fake.orderLooks(() => refusal(401, 'expired_api_key'));
		const { outcomes } = await step.run(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'expired_api_key',
			charge: 'paid',
			generation: { id: 'generation-1', status: 'pending' },
		});
	});

	it('given by its id', async () => {
		const step = new Step();
		step.fake.orderLooks(() => refusal(403, 'forbidden'));
		const { outcomes } = await step.run([waitingFor('elsewhere')]);
		expect(errorIn(outcomes[0])).toMatchObject({
			code: 'forbidden',
			generation: { id: 'elsewhere' },
		});
	});

	it('unless there is none of this id', async () => {
		const step = new Step();
		const { outcomes } = await step.run([waitingFor('nothing')]);
		expect(errorIn(outcomes[0])).toMatchObject({
			message: 'Generation nothing does not exist',
			code: 'generation_not_found',
			generation: null,
		});
	});

	it('or that it may be there although nobody knows its id', async () => {
		const step = new Step();
		step.fake.order('p0', answerLost);
		const { outcomes } = await step.run(batch(1));
		expect(errorIn(outcomes[0])).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
	});
});
