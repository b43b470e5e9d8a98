import { newMemory, type Memory } from '../../../client/jobs/memory';
import { Rest } from '../../../client/jobs/rest';
import { VirtualTime } from '../../support/virtual-time';

/** A run whose jobs wait until these times, in milliseconds from now. Returns when it rests, and until when. */
async function resting(
	waits: number[],
	{ jobs = waits.length, ...memory }: Partial<Memory> & { jobs?: number } = {},
) {
	const time = new VirtualTime();
	const began = time.now();
	const rest = new Rest(time, () => 0.5, { ...newMemory('token', began), ...memory });
	for (const ms of waits) rest.begin(() => began + ms);
	let restsAt: number | null = null;
	const end = new AbortController();
	time.at(began + 10_000, () => end.abort());
	const halt = () => (restsAt = time.now() - began);
	await time.run(rest.watch(() => jobs, halt, end.signal));
	return { restsAt, wakesAt: rest.wakeAt === null ? null : rest.wakeAt - began };
}

it('a run rests once all of its jobs wait and nothing is due soon, and wakes when the first wait ends', async () => {
	expect(await resting([60_000, 300_000, Infinity])).toEqual({ restsAt: 500, wakesAt: 60_000 });
});

it.each<[string, Parameters<typeof resting>]>([
	['a job works, or waits for something that it has not declared', [[60_000], { jobs: 2 }]],
	['a wait ends within 40 s', [[300_000, 39_000]]],
	['there is no job yet', [[], { jobs: 0 }]],
])('does not rest while %s', async (_, given) => {
	expect(await resting(...given)).toEqual({ restsAt: null, wakesAt: null });
});

it('wakes after half an hour if no wait has an end: others may have freed what it waits for', async () => {
	expect(await resting([Infinity])).toEqual({ restsAt: 500, wakesAt: 1_800_500 });
});

describe('the next status check of a generation', () => {
	const restOf = (durations: number[]) =>
		new Rest(new VirtualTime(), () => 0.5, { ...newMemory('token', 0), durations });

	it.each<[string, number[], number, number | null]>([
		['is close while nothing is known and it is young', [], 30_000, null],
		['comes a minute later while nothing is known', [], 60_000, 120_000],
		['comes after a sixth of its age while nothing is known', [], 600_000, 700_000],
		['comes shortly before the usual end', [300_000], 10_000, 291_000],
		['is close when the usual end is near', [100_000], 80_000, null],
		['does not believe a short duration: a finished one says nothing', [1_000], 300_000, 360_000],
	])('%s', (_, durations, age, at) => {
		expect(restOf(durations).nextCheck(age)).toBe(at);
	});
});

it('an outage that goes on is asked about every two minutes, from the first failure of a run', () => {
	const time = new VirtualTime();
	const calm = new Rest(time, () => 0, newMemory('token', time.now()));
	const down = new Rest(time, () => 0, { ...newMemory('token', 0), downSince: time.now() });
	expect([calm.backoff(0), down.backoff(0)]).toEqual([1_000, 120_000]);
	down.served();
	expect([down.backoff(0), down.downSince]).toEqual([1_000, null]);
});
