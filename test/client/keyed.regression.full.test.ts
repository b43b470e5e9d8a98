import { playKeyed } from './simulation/keyed';
import { calm as undisturbed, type KeyedSchedule, type Planned } from './simulation/keyed-schedule';
import type { Fault, Moment, RowState } from './simulation/keyed-world';

/**
 * Schedules of `keyed.property.full.test.ts` that once broke a promise, reduced to the minimum. Each one states where its fault
 * has to strike. When requests take more or fewer steps, a fault strikes elsewhere, and the schedule shows nothing.
 */

const planned: Planned = { ...undisturbed, maxConcurrent: 1 };

const calm: KeyedSchedule = {
	keys: [0],
	concurrency: 5,
	seconds: 1,
	reusesIds: false,
	findsNull: true,
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

/** A fault, and what rows of the table have to say about their requests at that moment. */
type Strike = [what: Fault, ...rows: RowState[]];

async function playAll(strikes: Strike[], ...schedules: Array<Partial<KeyedSchedule>>) {
	const moments: Moment[] = [];
	for (const schedule of schedules) {
		moments.push(...(await playKeyed({ ...calm, ...schedule })).moments);
	}
	const missed = strikes.filter(
		([what, ...rows]) =>
			!moments.some((one) => one.what === what && rows.every((row) => one.rows.includes(row))),
	);
	expect(missed).toEqual([]);
}

/** Plays a schedule with an event at many different times. */
async function playAtEach(
	fromMs: number,
	toMs: number,
	strikes: Strike[],
	at: (ms: number) => Partial<KeyedSchedule>,
) {
	const times = Array.from({ length: (toMs - fromMs) / 100 }, (_, index) => fromMs + index * 100);
	await playAll(strikes, ...times.map(at));
}

it('a workflow that times out leaves no key uncertain, and one row per generation', async () => {
	await playAtEach(0, 3000, [['timeout', 'sent']], (timesOutAfterMs) => ({
		keys: [0, 1, 2],
		executions: [{ ...planned, maxConcurrent: 3, timesOutAfterMs }],
	}));
});

it('a process that was paused between two items does not charge for either of them again', async () => {
	await playAtEach(0, 14_000, [['pause', 'created', 'sent']], (afterMs) => ({
		keys: [0, 1, 2],
		seconds: 3,
		executions: [
			{ ...planned, pause: { afterMs, ms: 150_000 } },
			{ ...planned, startMs: 5_000, onUncertainCharge: 'resubmit' },
		],
	}));
});

it('a process that was paused before its request does not charge again after another execution', async () => {
	await playAtEach(0, 2500, [['pause', 'sent']], (afterMs) => ({
		executions: [
			{ ...planned, pause: { afterMs, ms: 150_000 } },
			{ ...planned, startMs: 5_000, onUncertainCharge: 'resubmit' },
		],
	}));
});

it('a machine that slept does not treat its own running request as abandoned', async () => {
	await playAtEach(2_000, 6_000, [['sleep', 'sent']], (atMs) => ({
		seed: atMs,
		answerMs: 75_000,
		sleep: { atMs, ms: 200_000 },
		executions: [planned, { ...planned, startMs: 1_000, onUncertainCharge: 'resubmit' }],
	}));
});

it.each(['error', 'resubmit'] as const)(
	'a writer whose clock is minutes behind is not taken for dead (If the Response Is Lost: %s)',
	async (onUncertainCharge) => {
		await playAtEach(0, 4000, [['start', 'sent']], (startMs) => ({
			answerMs: 5_000,
			executions: [
				{ ...planned, clockOffMs: -300_000 },
				{ ...planned, startMs, onUncertainCharge },
			],
		}));
	},
);

it.each(['empty the writer', 'empty the status', 'empty everything', 'delete', 'copy'] as const)(
	'each step ends, and pays once, if a user edits a row: %s',
	async (deed) => {
		await playAtEach(
			0,
			2500,
			[
				['kill', 'sent'],
				['edit', 'sent'],
			],
			(atMs) => ({
				edits: [{ atMs, key: 0, deed, newest: false }],
				executions: [
					{ ...planned, diesAfterMs: 750 },
					{ ...planned, startMs: 2_000 },
				],
			}),
		);
	},
);

it('an unresolved row is sent once more after an export and import, as the user asked', async () => {
	await playAtEach(1500, 4000, [['edit', 'sent']], (atMs) => ({
		lost: 1,
		edits: [{ atMs, key: 0, deed: 'export and import', newest: false }],
		executions: [planned, { ...planned, startMs: 4_500, onUncertainCharge: 'resubmit' }],
	}));
});

it('a row with an id is not removed when the step ends, for any status that a user wrote into it', async () => {
	await playAtEach(2500, 4000, [['edit', 'created']], (atMs) => ({
		keys: [0, 1],
		seconds: 12,
		edits: [{ atMs, key: 0, deed: 'write an unknown status', newest: false }],
		executions: [{ ...planned, stopsAfterMs: 5_000 }],
	}));
});

it('a user who enters the ID of a request that is not answered yet keeps it from being sent again', async () => {
	await playAtEach(0, 3000, [['edit', 'sent']], (atMs) => ({
		answerMs: 75_000,
		lost: 0.4,
		executions: [{ ...planned, maxConcurrent: 1, onUncertainCharge: 'resubmit' }],
		edits: [{ atMs, key: 0, deed: 'write the id', newest: false }],
		seed: 303631,
	}));
});

it('an ID that a user enters into a row that a step is about to delete keeps the key from being sent again', async () => {
	await playAtEach(
		330,
		780,
		[
			['edit', 'sent'],
			['pause', 'sent'],
		],
		(atMs) => ({
			keys: [0, 0],
			concurrency: 1,
			tableMs: 400,
			lost: 0.4,
			seed: 290257,
			edits: [{ atMs, key: 0, deed: 'write the id', newest: true }],
			executions: [
				{ ...planned, maxConcurrent: 1, diesAfterMs: 0 },
				{ ...planned, maxConcurrent: 1, startMs: 10, stopsAfterMs: 340 },
				{
					...planned,
					maxConcurrent: 1,
					pause: { afterMs: null, ms: 20_000 },
					onUncertainCharge: 'resubmit',
				},
				{ ...planned, maxConcurrent: 1, startMs: 10, timesOutAfterMs: 0 },
			],
		}),
	);
});

it('an execution that is frozen for longer than its timeout charges nothing twice, and asks to be run again', async () => {
	await playAll(
		[
			['sleep', 'sent'],
			['pause', 'sent'],
		],
		{
			keys: [0, 1],
			concurrency: 1,
			tableMs: 1,
			answerMs: 75_000,
			seed: 357935,
			sleep: { atMs: 10_115, ms: 200_000 },
			executions: [
				{ ...planned, startMs: 100, maxConcurrent: 2, pause: { afterMs: null, ms: 400_000 } },
				{ ...planned, stopOnError: true },
				{ ...planned, diesAfterMs: 6, maxConcurrent: 2 },
			],
		},
	);
});

it('a process that is paused before it resubmits reads again whether the first request has its ID', async () => {
	await playAll(
		[
			['pause', 'sent'],
			['start', 'created'],
		],
		{
			keys: [0, 0],
			concurrency: 1,
			tableMs: 1,
			seed: 0,
			executions: [
				{
					...planned,
					startMs: 5_000,
					pause: { afterMs: null, ms: 20_000 },
					onUncertainCharge: 'resubmit',
				},
				{ ...planned, pause: { afterMs: 5, ms: 70_000 } },
			],
		},
	);
});

it('items that share a key do not shorten the minute after which another process counts as dead', async () => {
	await playAll([['pause', 'sent']], {
		keys: [2, 0, 2, 5, 6, 7, 8],
		concurrency: 1,
		answerMs: 75_000,
		lost: 0.1,
		fails: 0.1,
		seed: 23_729,
		second: { afterMs: 0, runIndex: 0 },
		breaks: { item: 0, afterMs: 1_000 },
		executions: [
			{
				...planned,
				stopOnError: true,
				pause: { afterMs: null, ms: 400_000, call: 1, laterMs: 500 },
			},
			{
				...planned,
				startMs: 70_000,
				maxConcurrent: 2,
				stopOnError: true,
				onUncertainCharge: 'resubmit',
			},
		],
	});
});
