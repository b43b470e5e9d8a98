import { playKeyed } from './simulation/keyed';
import { calm, type KeyedSchedule, type Planned } from './simulation/keyed-schedule';

/** Schedules of `npm run proof` that once broke a promise, with their fault at many different times. */

const planned: Planned = { ...calm, maxConcurrent: 1 };
const resubmits: Planned = { ...planned, startMs: 5_000, onUncertainCharge: 'resubmit' };

const undisturbed: KeyedSchedule = {
	keys: [0],
	concurrency: 5,
	seconds: 1,
	reusesIds: false,
	tableMs: 400,
	tableFails: 0,
	answerMs: 100,
	lost: 0,
	refused: 0,
	fails: 0,
	databaseOffMs: 0,
	sleep: null,
	executions: [planned],
	edits: [],
	seed: 1,
};

it.each<[string, number, number, (ms: number) => Partial<KeyedSchedule>]>([
	[
		'a workflow that times out leaves no key uncertain, and one row per generation',
		0,
		3_000,
		(timesOutAfterMs) => ({
			keys: [0, 1, 2],
			executions: [{ ...planned, maxConcurrent: 3, timesOutAfterMs }],
		}),
	],
	[
		'a process that was paused between two items does not charge for either of them again',
		0,
		14_000,
		(afterMs) => ({
			keys: [0, 1, 2],
			seconds: 3,
			executions: [{ ...planned, pause: { afterMs, ms: 150_000 } }, resubmits],
		}),
	],
	[
		'a process that was paused before its request does not charge again after another execution',
		0,
		2_500,
		(afterMs) => ({ executions: [{ ...planned, pause: { afterMs, ms: 150_000 } }, resubmits] }),
	],
	[
		'a machine that slept does not treat its own running request as abandoned',
		2_000,
		6_000,
		(atMs) => ({
			seed: atMs,
			answerMs: 75_000,
			sleep: { atMs, ms: 200_000 },
			executions: [planned, { ...resubmits, startMs: 1_000 }],
		}),
	],
	[
		'a writer whose clock is minutes behind is not taken for dead',
		0,
		4_000,
		(startMs) => ({
			answerMs: 5_000,
			executions: [
				{ ...planned, clockOffMs: -300_000 },
				{ ...resubmits, startMs },
			],
		}),
	],
	[
		'an execution that withdraws its row, and is stopped, does not call the key of the other one uncertain',
		0,
		6_000,
		(seed) => ({
			...{ seed, tableMs: 50, answerMs: 75_000 },
			executions: [{ ...planned, stopsAfterMs: 55 }, planned],
		}),
	],
	[
		'a user who enters the ID of a request that is not answered yet keeps it from being sent again',
		0,
		3_000,
		(atMs) => ({
			answerMs: 75_000,
			lost: 0.4,
			executions: [{ ...resubmits, startMs: 0 }],
			edits: [{ atMs, key: 0, deed: 'write the id', newest: false }],
			seed: 303631,
		}),
	],
])('%s', async (_, fromMs, toMs, at) => {
	for (let ms = fromMs; ms < toMs; ms += 100) await playKeyed({ ...undisturbed, ...at(ms) });
});
