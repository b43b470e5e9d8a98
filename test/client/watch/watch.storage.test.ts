import fc from 'fast-check';

import { networkError } from '../../support/answers';
import { hanging, type FakeService } from '../../support/fake-service';
import { batch, inShort, type Step } from '../../support/step';
import {
	anySeed,
	auto,
	expectScheduled,
	gaps,
	INTERVAL_MS,
	LONGEST_PAUSE_MS,
	seconds,
	soonAfter,
	stepOf,
} from './watched';

const missing = { status: 404, oneByte: false };

const storages: Record<string, FakeService['storage']> = {
	'that says 403 until the file is there': (_, written) =>
		written ? { status: 206, oneByte: true } : { status: 403, oneByte: false },
	'that ignores ranges': (_, written) => (written ? { status: 200, oneByte: false } : missing),
	'that redirects': () => ({ status: 302, oneByte: false }),
	'with a page for every request': () => ({ status: 200, oneByte: false }),
	'with server errors': () => ({ status: 503, oneByte: true }),
	'with other bytes than the requested one': () => ({ status: 206, oneByte: false }),
	'that says that its URL is gone': () => ({ status: 410, oneByte: false }),
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

it('a storage that serves a file while it is being written does not end a generation early', async () => {
	const step = stepOf(16_000);
	step.settings.maxConcurrent = 1;
	step.fake.storage = ({ endsAt }) =>
		step.time.now() >= endsAt - 5_000 ? { status: 206, oneByte: true } : missing;
	const early: string[] = [];
	step.finish = async (_, generation) => {
		const made = step.fake.made.find(({ id }) => id === generation.item.id);
		if (made && step.time.now() < made.endsAt) early.push(made.id);
		return { generation, output: '' };
	};
	const { outcomes } = await step.run(batch(8, auto));
	expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
	expect(early).toEqual([]);
});

it('a placeholder in the storage frees no slot', async () => {
	const step = stepOf(5000);
	step.settings.maxConcurrent = 1;
	const there = { status: 206, oneByte: true };
	step.fake.storage = ({ prompt }, written) => (written || prompt === 'p2' ? there : missing);
	await step.run(batch(4, auto));
	expect(step.fake.peak).toBe(1);
});

it('a storage with placeholders costs four checks of each generation, and is not probed again', async () => {
	const step = stepOf(60_000);
	step.settings.maxConcurrent = 1;
	step.fake.storage = () => ({ status: 206, oneByte: true });
	await step.run(batch(3, auto));
	expect(step.fake.probed).toHaveLength(1);
	expectScheduled(step.fake);
});

const LATENCY_MS = 50;

/** Ten items, two at once on an account that allows two, whose files exist before their status is final. */
async function makespanOf(T: number, earlyMs: number, seed: number) {
	const step = stepOf(T, seed);
	step.settings.maxConcurrent = step.fake.slots = 2;
	step.fake.latencyMs = LATENCY_MS;
	step.fake.storage = ({ endsAt }) =>
		step.time.now() >= endsAt - earlyMs ? { status: 206, oneByte: true } : missing;
	const { outcomes } = await step.run(batch(10, auto));
	expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
	return step.elapsed;
}

/**
 * The latest time, in milliseconds after its start, at which status checks alone can find that a generation of `T`
 * milliseconds is final. Measuring a run of such checks would not help: with a lucky jitter, it takes up to an interval
 * less per item.
 */
function latestByStatus(T: number): number {
	return Math.min(Math.ceil(T / INTERVAL_MS) * LONGEST_PAUSE_MS, T + LONGEST_PAUSE_MS);
}

describe('a storage that has the file a moment before the status is final', () => {
	// A file that precedes the status for longer than the four confirming checks ends the probing of the step. The
	// generations that run at that moment lose an interval.
	it('makes a step at most one interval slower than status checks alone', async () => {
		await fc.assert(
			fc.asyncProperty(seconds(1, 40), seconds(0, 4), anySeed, async (T, early, seed) => {
				const took = await makespanOf(T, early, seed);
				// The last confirming check follows after 800 ms at the latest.
				const latest = Math.max(latestByStatus(T), T + 900, soonAfter(T));
				expect(took).toBeLessThanOrEqual(5 * (latest + 3 * LATENCY_MS) + INTERVAL_MS);
			}),
		);
	});

	it.each([
		[5000, 100],
		[5000, 300],
		[10_000, 1000],
	])('keeps the slots busy all the same: %d ms, %d ms early', async (T, early) => {
		const took = await makespanOf(T, early, 1);
		expect(took).toBeLessThan(1.25 * 5 * T);
	});
});

describe('a storage whose response says neither that the file exists nor that it does not', () => {
	it.each([
		'that redirects',
		'with a page for every request',
		'with server errors',
		'with other bytes than the requested one',
		'that says that its URL is gone',
		'that has too many requests',
		'that cannot be reached',
		'that never answers',
	])('is not probed again for the same generation: one %s', async (name) => {
		const step = stepOf(30_000);
		step.fake.storage = storages[name];
		await step.run(batch(3, auto));
		expect(step.fake.probed).toHaveLength(3);
		expect(Math.min(...gaps(step.fake))).toBeGreaterThanOrEqual(INTERVAL_MS);
	});
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

	it('detects it just as early if the last status check was just before the end', async () => {
		const { fake } = await whereNoticedSoon(120_000, 1);
		const [{ id, startedAt }] = fake.made;
		for (const { at } of fake.looksAt(id)) await whereNoticedSoon(at - startedAt + 1, 1);
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
