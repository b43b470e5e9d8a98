import fc, { type Arbitrary } from 'fast-check';

/** What a user does to a row of the table by hand. */
const deeds = [
	'delete',
	'copy',
	/** The edit that the error of an uncertain charge recommends. */
	'write the id',
	'write an id that does not exist',
	'write the status failed',
] as const;

export type Deed = (typeof deeds)[number];

/**
 * Executions whose items share idempotency keys, or have none: consecutive and concurrent ones on the same record. Their
 * processes are killed or paused at any moment and have wrong clocks. The table is slow, fails, and is edited by hand.
 */
export interface KeyedSchedule {
	/** The key of each item; `null` for one without. Two items may have the same. */
	keys: Array<number | null>;
	/** Maximum number of generations of the account at once, and how many seconds each takes. */
	concurrency: number;
	seconds: number;
	/** Whether the table reuses the id of a deleted row for the next one, as SQLite does. */
	reusesIds: boolean;
	/** Maximum latency of a table call, and how likely it fails. */
	tableMs: number;
	tableFails: number;
	/** Maximum latency of a creating request. */
	answerMs: number;
	/**
	 * Probabilities that the response to a creating request is lost, that the request is rejected, and that its
	 * generation fails.
	 */
	lost: number;
	refused: number;
	fails: number;
	/** How far the clock of the database is ahead of the true time. */
	databaseOffMs: number;
	/** When the machine sleeps, with all processes on it, and for how long. */
	sleep: { atMs: number; ms: number } | null;
	executions: Planned[];
	/** What a user does to the table, on the first or the newest row of a key. */
	edits: Array<{ atMs: number; key: number; deed: Deed; newest: boolean }>;
	seed: number;
	/**
	 * A second call in each execution, `afterMs` after the first, as by an agent that uses the node as a tool. n8n gives
	 * parallel calls the same run index, and consecutive calls different ones.
	 */
	second?: { afterMs: number; runIndex: number } | null;
	/** The item whose download fails, `afterMs` after its generation ends. */
	breaks?: { item: number; afterMs: number } | null;
}

export interface Planned {
	startMs: number;
	/** When its process is killed, and when its user stops it. */
	diesAfterMs: number | null;
	stopsAfterMs: number | null;
	/** When its workflow times out. */
	timesOutAfterMs: number | null;
	/**
	 * When its process is paused, and for how long. `null`: right after a call that says that a request is sent, namely
	 * this one of these calls, from 1, or `laterMs` after it. Its request then waits.
	 */
	pause: { afterMs: number | null; ms: number; call?: number; laterMs?: number } | null;
	/** How far the clock of its process is ahead of the true time. */
	clockOffMs: number;
	/** How often the whole step is run, as Retry On Fail does. */
	tries: number;
	maxConcurrent: number;
	stopOnError: boolean;
	onUncertainCharge: 'error' | 'resubmit';
}

/** An execution to which nothing happens. */
export const calm: Planned = {
	startMs: 0,
	diesAfterMs: null,
	stopsAfterMs: null,
	timesOutAfterMs: null,
	pause: null,
	clockOffMs: 0,
	tries: 1,
	maxConcurrent: 5,
	stopOnError: false,
	onUncertainCharge: 'error',
};

/** Whether it may end or stand still while its requests are in flight. */
export function isInterrupted(planned: Planned): boolean {
	const { diesAfterMs, stopsAfterMs, timesOutAfterMs, pause, stopOnError } = planned;
	return (
		stopOnError || [diesAfterMs, stopsAfterMs, timesOutAfterMs, pause].some((one) => one !== null)
	);
}

const chance = fc.constantFrom(0, 0, 0.1, 0.4);

/** `null`, except in one of so many schedules. */
const oneIn = <T>(count: number, of: Arbitrary<T>) =>
	fc.oneof(
		{ weight: count - 1, arbitrary: fc.constant<T | null>(null) },
		{ weight: 1, arbitrary: of as Arbitrary<T | null> },
	);
/** While the first items run, or later, when others take their slots. */
const early = fc.oneof(
	{ weight: 3, arbitrary: fc.integer({ min: 0, max: 6_000 }) },
	{ weight: 1, arbitrary: fc.integer({ min: 0, max: 25_000 }) },
);
const clockOff = fc.constantFrom(0, 0, 0, -300_000, -200_000, -60_000, 60_000, 200_000, 300_000);

const edit = fc.record({
	atMs: fc.oneof(early, fc.integer({ min: 0, max: 80_000 })),
	key: fc.nat({ max: 3 }),
	deed: fc.constantFrom(...deeds),
	newest: fc.boolean(),
});

const anyPlanned: Arbitrary<Planned> = fc.record({
	startMs: fc.constantFrom(0, 0, 10, 100, 5_000, 70_000),
	diesAfterMs: fc.option(early, { nil: null }),
	stopsAfterMs: fc.oneof(
		{ weight: 3, arbitrary: fc.constant(null) },
		{ weight: 1, arbitrary: early },
	),
	timesOutAfterMs: oneIn(6, early),
	pause: oneIn(
		6,
		fc.record({
			afterMs: fc.oneof(early, fc.constant(null)),
			ms: fc.constantFrom(20_000, 70_000, 150_000, 400_000),
			call: fc.integer({ min: 1, max: 3 }),
			laterMs: fc.constantFrom(0, 0, 500),
		}),
	),
	clockOffMs: clockOff,
	tries: fc.integer({ min: 1, max: 2 }),
	maxConcurrent: fc.integer({ min: 1, max: 4 }),
	stopOnError: fc.boolean(),
	onUncertainCharge: fc.constantFrom('error', 'error', 'error', 'resubmit'),
});

/** A process that pauses right before its request is not killed. */
const planned = anyPlanned.map((one) =>
	one.pause?.afterMs === null ? { ...one, diesAfterMs: null } : one,
);

const drawn = fc.record({
	keys: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 6 }),
	concurrency: fc.integer({ min: 1, max: 8 }),
	seconds: fc.integer({ min: 1, max: 12 }),
	reusesIds: fc.boolean(),
	tableMs: fc.constantFrom(1, 50, 400),
	tableFails: fc.constantFrom(0, 0, 0.05, 0.3),
	answerMs: fc.constantFrom(100, 100, 75_000),
	lost: chance,
	refused: chance,
	fails: chance,
	databaseOffMs: clockOff,
	sleep: oneIn(
		6,
		fc.record({ atMs: fc.integer({ min: 0, max: 20_000 }), ms: fc.constantFrom(70_000, 200_000) }),
	),
	edits: fc.oneof(
		{ weight: 1, arbitrary: fc.constant<KeyedSchedule['edits']>([]) },
		{ weight: 1, arbitrary: fc.array(edit, { minLength: 1, maxLength: 3 }) },
	),
	executions: fc.array(planned, { minLength: 1, maxLength: 4 }),
	seed: fc.nat({ max: 1_000_000 }),
	// Keep these last: a field before the others changes every schedule of a seed.
	unkeyed: oneIn(4, fc.array(fc.boolean(), { minLength: 1, maxLength: 10 })),
	second: oneIn(
		4,
		fc.record({
			afterMs: fc.constantFrom(0, 0, 100, 2_000, 20_000),
			runIndex: fc.constantFrom(0, 1),
		}),
	),
	breaks: oneIn(
		4,
		fc.record({ item: fc.nat({ max: 9 }), afterMs: fc.integer({ min: 1_000, max: 4_000 }) }),
	),
});

export const keyedSchedule: Arbitrary<KeyedSchedule> = drawn.map(({ unkeyed, ...schedule }) => {
	const { keys, ...rest } = schedule.breaks ? whileOthersWait(schedule) : schedule;
	return { ...rest, keys: keys.map((key, item) => (unkeyed?.[item - 1] ? null : key)) };
});

/** A step that ends early while items wait: it has enough of them, and lives long enough. */
function whileOthersWait<S extends Pick<KeyedSchedule, 'keys' | 'seconds' | 'executions'>>(
	schedule: S,
): S {
	const [first, ...others] = schedule.executions;
	const lives = { diesAfterMs: null, stopsAfterMs: null, timesOutAfterMs: null, stopOnError: true };
	return {
		...schedule,
		keys: [...schedule.keys, 5, 6, 7, 8],
		seconds: Math.min(schedule.seconds, 3),
		executions: [
			{ ...first, ...lives, maxConcurrent: Math.min(first.maxConcurrent, 2) },
			...others,
		],
	};
}
