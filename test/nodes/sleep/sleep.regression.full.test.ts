import { outcomeOf } from './judge';
import { playAsleep } from './play';
import { calm, type Death, type SleepSchedule } from './schedule';
import type { SleepWorld } from './world';

/** Schedules of steps that sleep that once broke a promise, and those that show what n8n leaves no way to heal. */

const restart = { downMs: 1_000, tablesMs: 200, recoveryMs: 50, amendMs: 5 };

const outcomesOf = (world: SleepWorld) => {
	const { items, text } = world.resultOf(world.step);
	return items?.map((item) => outcomeOf(item).status ?? outcomeOf(item).code) ?? text;
};

/** Kills n8n at each moment of the executions of a depth, each time in another schedule. */
async function killedAtEach(depth: number, schedule: Partial<SleepSchedule> = {}) {
	const ends = new Set<string>();
	for (let nth = 0; ; nth++) {
		const deaths: Death[] = [{ depth, nth, restart }];
		const world = await playAsleep({ ...calm, items: ['made'], seconds: 60, ...schedule, deaths });
		if (world.died.length === 0) return { ends, moments: nth };
		const [{ stepSleeps }] = world.died;
		if (stepSleeps) ends.add(JSON.stringify(outcomesOf(world)));
	}
}

it.each([
	['the waves', 2],
	['the results', 3],
])('a batch goes on by itself, at whatever moment of %s n8n is killed once', async (_, depth) => {
	const { ends, moments } = await killedAtEach(depth);
	expect([...ends]).toEqual(['["completed"]']);
	expect(moments).toBeGreaterThan(20);
});

it('a suspended wait goes on by itself, at whatever moment of a wave n8n is killed once', async () => {
	const { ends, moments } = await killedAtEach(2, { node: 'wait', seconds: 200 });
	expect([...ends]).toEqual(['["completed"]']);
	expect(moments).toBeGreaterThan(10);
});

it('nothing is created after a user has stopped the waves that wake while a worker starts', async () => {
	// n8n stores no error with what a worker was stopped in.
	let stops = 0;
	for (const stopMs of [62_000, 66_000, 70_000, 74_000, 78_000]) {
		const deaths: Death[] = [{ depth: null, nth: 50_000, restart }];
		const stop = { afterMs: stopMs, depth: 2 };
		const schedule = { ...calm, mode: 'queue' as const, limit: 1, seconds: 60, deaths, stop };
		const { stopped, service } = await playAsleep(schedule);
		if (!stopped?.whileAwake) continue;
		stops++;
		// The next run of the items comes later.
		const afterMs = service.creating.map(({ at }) => at - stopped.at);
		expect(afterMs.filter((ms) => ms > 15_000 && ms < 300_000)).toEqual([]);
	}
	expect(stops).toBeGreaterThan(2);
});

it.each<[string, Partial<SleepSchedule>]>([
	['a generation that failed', { items: ['fails once', 'fails', 'made'], retriesOnFailure: 1 }],
	[
		'what was sent again',
		{ items: ['answer lost', 'answer lost', 'made'], limit: 1, onUncertainCharge: 'resubmit' },
	],
])('%s counts for the limit if the next wave dies', async (_, given) => {
	for (const nth of [40, 60, 80, 100, 120]) {
		const deaths: Death[] = [{ depth: 2, nth, restart }];
		await playAsleep({ ...calm, ...given, maxNewGenerations: 4, deaths });
	}
});

it('an error that ends a batch is shown, and not that of an item that was left', async () => {
	const world = await playAsleep({
		...calm,
		...{ items: ['made', 'fails once', 'answer lost'], seconds: 60, limit: 2 },
		...{ retriesOnFailure: 2, stopOnError: true },
	});
	expect(outcomesOf(world)).toContain('The service’s response was lost');
});

it('no ID is lost if n8n is killed while the guard returns the results, although the step cannot get them', async () => {
	// The judge looks for the ids.
	const { ends, moments } = await killedAtEach(1);
	expect(ends.size).toBeGreaterThan(0);
	expect(moments).toBeGreaterThan(30);
});
