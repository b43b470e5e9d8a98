import fc from 'fast-check';

import { seededRandom } from '../../../sandbox/basics/random';
import { answer, networkError } from '../../support/answers';
import { hanging, type FakeService } from '../../support/fake-service';
import { batch, inShort, type Step, waitingFor } from '../../support/step';
import {
	anySeed,
	auto,
	expectScheduled,
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
	'with server errors': () => ({ status: 503, oneByte: false }),
	'that cannot be reached': () => {
		throw networkError('ECONNREFUSED', 'connect');
	},
	'that never answers': hanging,
	'with a placeholder from the beginning': () => ({ status: 206, oneByte: true }),
};

describe.each(Object.entries(storages))('a storage %s', (_, storage) => {
	it('never reports the output before it exists, and at most one poll interval later than with Readiness set to Status', async () => {
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
			{ numRuns: 25 },
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
			{ numRuns: 200 },
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
		'that cannot be reached',
		'that never answers',
	])('is not probed again for the same generation: one %s', async (name) => {
		const step = stepOf(30_000);
		step.fake.storage = storages[name];
		await step.run(batch(3, auto));
		expect(step.fake.probed).toHaveLength(3);
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
			{ numRuns: 25 },
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

it('a storage is still probed after a scheduled check came before its probe', async () => {
	const step = stepOf(3999);
	step.settings.maxConcurrent = 1;
	await step.run(batch(2, auto));
	const [first, second] = step.fake.made;
	expect(step.fake.looksAt(first.id)).toHaveLength(1);
	expect(step.fake.probed.map(({ id }) => id)).toContain(second.id);
});

describe('a URL', () => {
	it('that is unknown at first is probed once it is known', async () => {
		const step = stepOf(9500);
		step.fake.order('p0', (make) => {
			make();
			return answer({ id: 'generation-1' });
		});
		await step.run(batch(1, auto));
		expect(step.elapsed).toBeLessThanOrEqual(soonAfter(9500));
	});

	it('with an unknown expiry is probed', async () => {
		const step = stepOf(3000);
		step.fake.order('p0', (make) => {
			const { body } = make();
			return answer({ ...(body as object), created: null });
		});
		await step.run(batch(1, auto));
		expect(step.fake.looksAt('generation-1')).toHaveLength(1);
	});
});

describe('a URL that has expired', () => {
	it('is not probed, and is renewed by a status check', async () => {
		const step = stepOf(500_000);
		const { time, fake } = step;
		fake.url = (id) => `https://storage.example.com/${id}.png?expires=${time.now() / 1000 + 20}`;
		const { outcomes } = await step.run(batch(1, auto));
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		for (const { url, at } of fake.probed) {
			const expiresAt = Number(new URL(url).searchParams.get('expires')) * 1000;
			// It may expire before its probe is sent.
			expect(at - expiresAt).toBeLessThanOrEqual(INTERVAL_MS);
		}
		expect(new Set(fake.probed.map(({ url }) => url)).size).toBeGreaterThan(20);
	});

	it('is renewed at once for an id from the user', async () => {
		const step = stepOf(5000);
		await step.run(batch(1, { wait: false }));
		const { outcomes } = await step.runAgain([waitingFor('generation-1', 0, auto)]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(step.fake.looksAt('generation-1')[0].at).toBeLessThan(step.fake.probed[0].at);
		expect(step.elapsed).toBeLessThanOrEqual(soonAfter(5000));
	});
});

describe('no probe is sent', () => {
	it.each([180, 400, 5000, 12_345])('after a Stop at %d ms', async (ms) => {
		const step = stepOf(100_000);
		step.stopAt(ms);
		const { outcomes } = await step.run(batch(8, auto));
		expect(outcomes.map(({ kind }) => kind)).toEqual(Array(8).fill('stopped'));
		const { startedAt } = step.fake.made[0];
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThanOrEqual(ms);
		expect(step.elapsed).toBe(ms);
	});

	it('after a Stop during a status check', async () => {
		const step = stepOf(9900);
		step.fake.latencyMs = 500;
		step.stopAt(10_700);
		await step.run(batch(1, auto));
		const { startedAt } = step.fake.made[0];
		expect(step.fake.looksAt('generation-1')[0].at).toBeLessThan(startedAt + 10_700);
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThanOrEqual(10_700);
	});

	it.each(['auto', 'outputUrl'] as const)('after the timeout: %s', async (readiness) => {
		const step = stepOf(100_000);
		await step.run(batch(1, { readiness, timeoutMs: 7000, onTimeout: 'continue' }));
		const { startedAt } = step.fake.made[0];
		expect(step.fake.probed.length).toBeGreaterThan(0);
		for (const { at } of step.fake.probed) expect(at - startedAt).toBeLessThan(7000);
		expect(step.elapsed).toBe(7000);
	});
});

describe('a step of 200 generations', () => {
	it('sends at most 40 probes a second, and detects the ends no later than polling', async () => {
		const step = stepOf(0);
		step.settings.maxConcurrent = 200;
		const random = seededRandom(7);
		const durations = Array.from({ length: 200 }, () => 2000 + 40_000 * random());
		step.fake.durationMs = (prompt) => durations[Number(prompt.slice(1))];
		const ends = new Map<string, number>();
		step.finish = async (_, generation) => {
			ends.set(generation.item.id, step.time.now());
			return { generation, output: '' };
		};
		await step.run(batch(200, auto));
		const times = step.fake.probed.map(({ at }) => at);
		times.forEach((at, index) => {
			if (index >= 40) expect(at - times[index - 40]).toBeGreaterThanOrEqual(1000);
		});
		const queued = 1000;
		const late = step.fake.made.map(({ id, endsAt }) => (ends.get(id) ?? Infinity) - endsAt);
		expect(Math.max(...late)).toBeLessThanOrEqual(LONGEST_PAUSE_MS + queued);
		// On average, polling detects an end half an interval late.
		const mean = late.reduce((sum, ms) => sum + ms) / late.length;
		expect(mean).toBeLessThanOrEqual(INTERVAL_MS / 2);
		expectScheduled(step.fake);
	});
});

it('a service that stops answering ends the wait at its timeout, with a short poll interval too', async () => {
	const step = stepOf(100_000);
	step.settings.pollIntervalMs = 1000;
	// Real timers fire a little late.
	const { time } = step;
	const sleep: typeof time.sleep = async (ms, signal) => await time.sleep(ms + 2, signal);
	step.clock = { now: () => time.now(), sleep };
	const { send } = step.fake;
	(step.fake as { send: typeof send }).send = async (request) =>
		request.method === 'GET' ? await new Promise<never>(() => undefined) : await send(request);
	await step.run(batch(1, { ...auto, timeoutMs: 5000, onTimeout: 'continue' }));
	expect(step.elapsed).toBeLessThan(8000);
});
