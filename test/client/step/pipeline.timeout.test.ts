import fc from 'fast-check';

import { seededRandom } from '../../../sandbox/basics/random';
import { networkError, refusal } from '../../support/answers';
import { answerLost, hanging, refused, unreachable, type Look } from '../../support/fake-service';
import { batch, creating, errorIn, inShort, Step, waitingFor } from '../../support/step';

const never = { wait: true, readiness: 'auto' } as const;
const unavailable = () => refusal(503, 'service_unavailable');

/** Ways in which a status check fails. */
const troubles: Record<string, (step: Step) => Look> = {
	'that hang': () => hanging,
	'that fail': () => unavailable,
	'whose connection breaks': () => () => {
		throw networkError('ECONNRESET', 'read');
	},
	'with the answer of somebody else': () => () => ({ status: 200, body: '<html>Sign in' }),
	'with half an answer': () => () => ({ status: 200, body: '{"id":"generation-1","sta' }),
	'that are late': (step) => async () => {
		await step.time.sleep(45_000);
		return refusal(503, 'service_unavailable');
	},
};

/** Creates a step in which every status check fails in this way. */
function troubled(trouble: string): Step {
	const step = new Step({ stopOnError: false });
	step.fake.durationMs = () => 1_000_000;
	step.fake.orderLooks(...Array.from({ length: 500 }, () => troubles[trouble](step)));
	return step;
}

describe.each(Object.keys(troubles))('with status checks %s, a step', (trouble) => {
	it('never outlasts its timeout', async () => {
		const schedule = fc.record({
			timeoutMs: fc.integer({ min: 1, max: 59_000 }),
			onTimeout: fc.constantFrom('error', 'continue'),
			readiness: fc.constantFrom('auto', 'status', 'outputUrl'),
			seed: fc.nat({ max: 1_000_000 }),
			hangs: fc.boolean(),
		});
		await fc.assert(
			fc.asyncProperty(schedule, async ({ seed, hangs, ...settings }) => {
				const step = troubled(trouble);
				step.random = seededRandom(seed);
				if (hangs) step.fake.storage = hanging;
				const { outcomes } = await step.run(batch(3, settings));
				expect(step.elapsed).toBeLessThanOrEqual(settings.timeoutMs);
				for (const [index, outcome] of outcomes.entries()) {
					const id = `generation-${index + 1}`;
					expect(outcome).toMatchObject(
						outcome.kind === 'error'
							? { error: { charge: 'paid', generation: { id } } }
							: { kind: 'done', generation: { id, timed_out: true } },
					);
				}
			}),
		);
	});

	it('ends an id that could never be checked by its timeout', async () => {
		const step = troubled(trouble);
		const { outcomes } = await step.run([
			waitingFor('foreign', 0, { ...never, timeoutMs: 5000 }),
			waitingFor('other', 1, { ...never, timeoutMs: 5000, onTimeout: 'continue' }),
		]);
		// A page says at once that this is not the service.
		if (trouble === 'with the answer of somebody else') {
			expect(outcomes.map((outcome) => errorIn(outcome).code)).toEqual(
				Array(2).fill('unreadable_answer'),
			);
			return;
		}
		expect(outcomes.map(inShort)).toEqual(['timeout foreign', 'null other']);
		expect(errorIn(outcomes[0]).details).toContain('Its status could not be checked');
		expect(outcomes[1]).toMatchObject({ generation: { timed_out: true, status: null } });
		expect(step.elapsed).toBe(5000);
	});

	it('continues after the failures end', async () => {
		const step = new Step();
		step.fake.orderLooks(troubles[trouble](step));
		const { outcomes } = await step.run(batch(1, { timeoutMs: 100_000 }));
		expect(outcomes.map(inShort)).toEqual([
			trouble === 'that hang' ? 'timeout generation-1' : 'completed generation-1',
		]);
	});
});

describe('the error of a timeout', () => {
	it('does not mention a failed status check that was followed by a successful one', async () => {
		const step = new Step();
		step.fake.durationMs = () => 1_000_000;
		step.fake.orderLooks(unavailable);
		const { outcomes } = await step.run(batch(1, { timeoutMs: 60_000 }));
		expect(errorIn(outcomes[0]).details).toBe('It is still processing.');
	});
});

describe('ids after a sleep', () => {
	it.each(Object.keys(troubles))(
		'whose timeout has passed do not continue for long: %s',
		async (trouble) => {
			const step = troubled(trouble);
			step.fake.orderLooks(...Array(5000).fill(troubles[trouble](step)));
			step.sleptSince(step.time.now() - 1_800_000);
			const jobs = Array.from({ length: 200 }, (_, index) =>
				waitingFor(`generation-${index}`, index, { timeoutMs: 1_800_000 }),
			);
			const { outcomes } = await step.run(jobs);
			expect(outcomes.every(({ kind }) => kind === 'error')).toBe(true);
			expect(step.elapsed).toBeLessThanOrEqual(100_000);
		},
	);
});

describe('an id whose turn comes just before its timeout', () => {
	it.each([0, 1])('is still checked: timers that fire %d ms early', async (early) => {
		const step = new Step({ maxConcurrent: 1 });
		step.fake.durationMs = (prompt) => (prompt === 'p0' ? 9e6 : 1000);
		await step.run(batch(2, { wait: false }));
		step.fake.latencyMs = 100;
		step.clock = {
			now: () => step.time.now(),
			sleep: async (ms, signal) => await step.time.sleep(ms > 20 ? ms - early : ms, signal),
		};
		const jobs = [1, 2].map((n) =>
			waitingFor(`generation-${n}`, n - 1, { timeoutMs: 60_000, onTimeout: 'continue' }),
		);
		const { outcomes } = await step.runAgain(jobs);
		expect(outcomes.map(inShort)).toEqual(['processing generation-1', 'completed generation-2']);
	});
});

describe('a process that is suspended past the timeout, like a laptop', () => {
	it('checks once more for generations that may have ended in the meantime', async () => {
		const step = new Step();
		const { time } = step;
		let frozenMs = 0;
		step.clock = {
			now: () => time.now() + frozenMs,
			sleep: async (ms: number, signal?: AbortSignal) => await time.sleep(ms, signal),
		};
		time.at(time.now() + 4000, () => {
			frozenMs = 3_600_000;
			for (const made of step.fake.made) made.endsAt = time.now();
		});
		const { outcomes } = await step.run(batch(3));
		expect(outcomes.map(inShort)).toEqual([1, 2, 3].map((n) => `completed generation-${n}`));
	});
});

describe('an item that gets no slot', () => {
	it.each(['error', 'continue'] as const)(
		'fails at its timeout, and says that nothing was charged: %s',
		async (onTimeout) => {
			const step = new Step({ stopOnError: false });
			step.random = seededRandom(3);
			step.fake.slots = 0;
			const { outcomes } = await step.run(batch(4, { timeoutMs: 20_000, onTimeout }));
			for (const outcome of outcomes) {
				expect(errorIn(outcome)).toMatchObject({
					code: 'CONCURRENCY_LIMIT_REACHED',
					charge: 'none',
				});
			}
			expect(step.elapsed).toBeLessThanOrEqual(20_000);
		},
	);
});

describe('an item whose creating request fails', () => {
	it.each([
		['is refused for the time being', refused(503, 'service_unavailable'), 'service_unavailable'],
		['does not come through', unreachable, 'connection_failed'],
		['is lost, and sent again as the user wishes', answerLost, 'uncertain_charge'],
	])('fails at its timeout if it %s', async (_, script, code) => {
		await fc.assert(
			fc.asyncProperty(fc.integer({ min: 1, max: 90_000 }), fc.nat(), async (timeoutMs, seed) => {
				const step = new Step();
				step.random = seededRandom(seed);
				step.fake.order('p0', ...Array.from({ length: 20 }, () => script));
				const { outcomes } = await step.run([
					creating('p0', 0, { timeoutMs, onUncertainCharge: 'resubmit' }),
				]);
				expect(errorIn(outcomes[0]).code).toBe(code);
				expect(step.elapsed).toBeLessThanOrEqual(timeoutMs);
			}),
		);
	});
});

describe('a step', () => {
	it('sends requests only for the generations, so that a catalog that hangs delays nothing', async () => {
		const step = new Step();
		await step.run(batch(12, never));
		const asked = new Set(step.fake.seen.map(({ path }) => path.replace(/generation-\d+/, '')));
		expect(asked).toEqual(new Set(['/v1/images/generations', '/v1/generations/']));
	});

	it('that does not wait never has more creating requests at once than Max Concurrent', async () => {
		const step = new Step({ maxConcurrent: 2 });
		step.fake.latencyMs = 700;
		const { outcomes } = await step.run(batch(30, { wait: false }));
		expect(outcomes).toHaveLength(30);
		const sent = step.fake.creating.map(({ at }) => at);
		expect(sent).toHaveLength(30);
		sent.slice(2).forEach((at, index) => expect(at - sent[index]).toBeGreaterThanOrEqual(700));
		expect(step.elapsed).toBe(15 * 700);
	});

	it('says how many requests it sent again after lost responses', async () => {
		const step = new Step({ stopOnError: false });
		step.fake.order('p0', answerLost, answerLost);
		step.fake.order('p1', ...Array.from({ length: 4 }, () => answerLost));
		const { outcomes, stats } = await step.run(batch(3, { onUncertainCharge: 'resubmit' }));
		expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'error', 'done']);
		expect(stats.resubmitted).toBe(2);
		expect(errorIn(outcomes[1]).message).toBe(
			'The service’s responses to 4 requests were lost: up to 4 may have been charged',
		);
	});
});

describe('a Base URL that has never responded', () => {
	const nobody = (step: Step, items: number) => {
		for (let item = 0; item < items; item++) {
			step.fake.order(`p${item}`, ...Array.from({ length: 90 }, () => unreachable));
		}
	};

	it.each([
		[1, true],
		[1, false],
		[10, true],
		[10, false],
	])(
		'fails within about a minute for all items: %d at once',
		async (maxConcurrent, stopOnError) => {
			const step = new Step({ maxConcurrent, stopOnError });
			step.random = seededRandom(5);
			nobody(step, 40);
			const { outcomes } = await step.run(batch(40));
			expect(step.elapsed).toBeGreaterThanOrEqual(60_000);
			expect(step.elapsed).toBeLessThanOrEqual(90_000);
			expect(step.fake.creating.length).toBeLessThanOrEqual(8 * maxConcurrent);
			if (!stopOnError) {
				for (const outcome of outcomes) expect(errorIn(outcome).code).toBe('connection_failed');
			}
			expect(outcomes.filter(({ kind }) => kind === 'done')).toEqual([]);
		},
	);

	it('is retried for longer if an earlier attempt of the step has created something', async () => {
		const step = new Step({ spentBefore: { requests: 1, credits: 0, price: 0 } });
		step.fake.order('p0', ...Array.from({ length: 5 }, () => unreachable));
		const { outcomes } = await step.run(batch(1));
		expect(outcomes.map(({ kind }) => kind)).toEqual(['done']);
	});

	it('fails within about a minute for all ids, too', async () => {
		const step = new Step({ maxConcurrent: 2, stopOnError: false });
		const nothing = () => {
			throw networkError('ECONNREFUSED', 'connect');
		};
		step.fake.orderLooks(...Array.from({ length: 500 }, () => nothing));
		const ids = Array.from({ length: 20 }, (_, item) => waitingFor(`id-${item}`, item));
		const { outcomes } = await step.run(ids);
		for (const outcome of outcomes) expect(errorIn(outcome).code).toBe('connection_failed');
		expect(step.elapsed).toBeLessThanOrEqual(90_000);
	});
});
