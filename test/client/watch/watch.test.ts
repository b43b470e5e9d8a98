import fc from 'fast-check';

import { refusal } from '../../support/answers';
import { hanging } from '../../support/fake-service';
import { batch, errorIn, inShort, Step } from '../../support/step';
import { anySeed, auto, seconds, soonAfter, stepOf } from './watched';

/** The ages of a generation at its status checks, in seconds. */
const checksOf = (step: Step, index = 0) => {
	const { id, startedAt } = step.fake.made[index];
	return step.fake.looksAt(id).map(({ at }) => (at - startedAt) / 1000);
};

describe('the end of a generation', () => {
	it('is detected at once by its output, whenever the last scheduled check was', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				const { outcomes } = await step.run(batch(1, { ...auto, timeoutMs: 1_800_000 }));
				expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
				expect(step.elapsed).toBeLessThanOrEqual(soonAfter(duration));
			}),
			// A check came just before the end.
			{ examples: [[10_001, 1]] },
		);
	});

	it('is confirmed by one status check', async () => {
		const step = stepOf(2000);
		await step.run(batch(1, auto));
		expect(checksOf(step)).toHaveLength(1);
	});

	it('frees its slot as soon as it is confirmed', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.5, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.settings.maxConcurrent = 1;
				await step.run(batch(3, { ...auto, timeoutMs: 1_800_000 }));
				const [, { startedAt }, next] = step.fake.made;
				expect(next.startedAt - startedAt).toBeLessThanOrEqual(soonAfter(duration));
			}),
		);
	});

	it('is decided by the status, so that the revised prompt is not lost', async () => {
		const step = stepOf(11_000);
		step.settings.maxConcurrent = 1;
		step.fake.revisedPrompt = (prompt) => (prompt === 'p0' ? undefined : `a better ${prompt}`);
		const { outcomes } = await step.run(batch(4, auto));
		expect(
			outcomes.map((outcome) => outcome.kind === 'done' && outcome.generation.revised_prompt),
		).toEqual([null, 'a better p1', 'a better p2', 'a better p3']);
	});

	it('is detected within ten seconds or a tenth of its age if it is a failure', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.5, 900), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.fake.failure = () => 'out of paint';
				const { outcomes } = await step.run(batch(1, { ...auto, timeoutMs: 1_800_000 }));
				expect(errorIn(outcomes[0]).code).toBe('generation_failed');
				const late = step.elapsed - duration;
				expect(late).toBeLessThanOrEqual(Math.max(10_000, step.elapsed / 10));
			}),
			// The latest case: it fails at once.
			{ examples: [[1, 1]] },
		);
	});
});

describe('the scheduled checks', () => {
	it('come at four and ten seconds, then every ten seconds or a tenth of the age', async () => {
		const step = stepOf(400_000);
		await step.run(batch(1, auto));
		const ages = checksOf(step).slice(0, -1);
		const wanted = [4, 10];
		while ((wanted.at(-1) as number) < 400) {
			const last = wanted.at(-1) as number;
			wanted.push(last + Math.max(10, last / 10));
		}
		ages.forEach((age, index) => {
			// The jitter of the first two, three percent, carries over.
			expect(age).toBeGreaterThanOrEqual(wanted[index]);
			expect(age).toBeLessThanOrEqual(1.04 * wanted[index]);
		});
		expect(ages.length).toBeGreaterThan(20);
	});

	it('detect a failure at four seconds, so that it does not hold its slot', async () => {
		const step = stepOf(2000);
		step.settings.maxConcurrent = 1;
		step.settings.stopOnError = false;
		step.fake.failure = (prompt) => (prompt === 'p0' ? 'out of paint' : undefined);
		await step.run(batch(2, auto));
		const [first, second] = step.fake.made;
		expect(second.startedAt - first.startedAt).toBeLessThanOrEqual(4200);
	});

	it('are never closer than the poll interval', async () => {
		const step = new Step({ pollIntervalMs: 30_000 });
		step.fake.durationMs = () => 200_000;
		await step.run(batch(1, auto));
		const ages = checksOf(step).slice(0, -1);
		expect(ages.length).toBeGreaterThan(4);
		ages.slice(1).forEach((age, index) => expect(age - ages[index]).toBeGreaterThanOrEqual(30));
	});
});

describe('if the files exist, and the status cannot be checked', () => {
	const trouble = {
		'it returns errors': () => refusal(503, 'service_unavailable'),
		'it never responds': hanging,
	};

	it.each(Object.entries(trouble))(
		'no more generations are created than may run at once: %s',
		async (_, look) => {
			const step = stepOf(2000);
			step.settings.maxConcurrent = step.fake.slots = 10;
			step.fake.orderLooks(...Array.from({ length: 500 }, () => look));
			await step.run(batch(300, { ...auto, timeoutMs: 120_000 }));
			expect(step.fake.made).toHaveLength(10);
		},
	);
});
