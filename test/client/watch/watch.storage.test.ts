import fc from 'fast-check';

import { networkError } from '../../support/answers';
import { hanging, type FakeService } from '../../support/fake-service';
import { batch, inShort, type Step } from '../../support/step';
import { anySeed, auto, expectScheduled, LONGEST_PAUSE_MS, seconds, stepOf } from './watched';

const missing = { status: 404, oneByte: false };

const storages: Record<string, FakeService['storage']> = {
	'that says 403 until the file is there': (_, written) =>
		written ? { status: 206, oneByte: true } : { status: 403, oneByte: false },
	'that ignores ranges': (_, written) => (written ? { status: 200, oneByte: false } : missing),
	'that redirects': () => ({ status: 302, oneByte: false }),
	'with a page for every request': () => ({ status: 200, oneByte: false }),
	'with other bytes than the requested one': () => ({ status: 206, oneByte: false }),
	'that has too many requests': () => ({ status: 429, oneByte: false }),
	'with an error page of one byte until the file is there': (_, written) =>
		written ? { status: 206, oneByte: true } : { status: 404, oneByte: true },
	'that cannot be reached': () => {
		throw networkError('ECONNREFUSED', 'connect');
	},
	'that never answers': hanging,
	'with a placeholder from the beginning': () => ({ status: 206, oneByte: true }),
};

describe.each(Object.entries(storages))('a storage %s', (_, storage) => {
	it('never reports the output before it exists, and at most one poll interval later than with status checks alone', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.1, 120), anySeed, async (duration, seed) => {
				const step = stepOf(duration, seed);
				step.fake.storage = storage;
				const { outcomes } = await step.run(batch(1, auto));
				expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
				expect(step.elapsed).toBeGreaterThanOrEqual(duration);
				const plain = stepOf(duration, seed);
				await plain.run(batch(1));
				expect(step.elapsed).toBeLessThanOrEqual(plain.elapsed + LONGEST_PAUSE_MS);
			}),
		);
	});
});

it('a storage with placeholders costs four checks of each generation, and is not probed again', async () => {
	const step = stepOf(60_000);
	step.settings.maxConcurrent = 1;
	step.fake.storage = () => ({ status: 206, oneByte: true });
	await step.run(batch(3, auto));
	expect(step.fake.probed).toHaveLength(1);
	expectScheduled(step.fake);
});

describe.each([
	['caches a 404', 404],
	['accepts every request without a file', 202],
	['has no content', 204],
	['always answers 403', 403],
])('a storage that %s', (_, status) => {
	const denying = (step: Step) => (step.fake.storage = () => ({ status, oneByte: false }));

	async function whereNoticedSoon(duration: number, seed: number): Promise<Step> {
		const step = stepOf(duration, seed);
		denying(step);
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		const late = step.elapsed - duration;
		expect(late).toBeLessThanOrEqual(Math.max(10_000, step.elapsed / 10));
		return step;
	}

	it('detects the output as soon as a failure would be detected', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(0.1, 120), anySeed, async (duration, seed) => {
				await whereNoticedSoon(duration, seed);
			}),
		);
	});

	it('is not probed again during the step, which polls from then on', async () => {
		const step = stepOf(4000);
		step.settings.maxConcurrent = 1;
		denying(step);
		const { outcomes } = await step.run(batch(4, auto));
		expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
		const [first, ...others] = step.fake.made;
		expect(new Set(step.fake.probed.map(({ id }) => id))).toEqual(new Set([first.id]));
		for (const { id, endsAt } of others) {
			const seen = step.fake.looksAt(id).at(-1)?.at ?? Infinity;
			expect(seen - endsAt).toBeLessThanOrEqual(LONGEST_PAUSE_MS);
		}
	});
});
