import fc, { type Arbitrary } from 'fast-check';

/**
 * Executions whose items have idempotency keys: one after the other and side by side on the same record, their
 * processes killed at any moment, the table slow and failing.
 */
export interface KeyedSchedule {
	/** The key of each item: two may well have the same. */
	keys: number[];
	/** How many generations the account may have at once, and how many seconds each takes. */
	concurrency: number;
	seconds: number;
	/** Whether the table gives the id of a row that is gone to the next one, as SQLite does. */
	reusesIds: boolean;
	/** How long a call of the table may take, and how likely it fails. */
	tableMs: number;
	tableFails: number;
	/** How likely the answer to a creating request is lost, the request refused, and its generation a failure. */
	lost: number;
	refused: number;
	fails: number;
	executions: Planned[];
	seed: number;
}

export interface Planned {
	startMs: number;
	/** When its process is killed, and when its user stops it. */
	diesAfterMs: number | null;
	stopsAfterMs: number | null;
	/** How often the whole step is run, as Retry On Fail does. */
	tries: number;
	maxConcurrent: number;
	stopOnError: boolean;
	onUncertainCharge: 'error' | 'resubmit';
}

const chance = fc.constantFrom(0, 0, 0.1, 0.4);
const moment = (max: number) => fc.option(fc.integer({ min: 0, max }), { nil: null });

const planned: Arbitrary<Planned> = fc.record({
	startMs: fc.constantFrom(0, 0, 10, 100, 5_000, 70_000),
	diesAfterMs: moment(6_000),
	stopsAfterMs: fc.oneof(
		{ weight: 3, arbitrary: fc.constant(null) },
		{ weight: 1, arbitrary: fc.integer({ min: 0, max: 6_000 }) },
	),
	tries: fc.integer({ min: 1, max: 2 }),
	maxConcurrent: fc.integer({ min: 1, max: 4 }),
	stopOnError: fc.boolean(),
	onUncertainCharge: fc.constantFrom('error', 'error', 'error', 'resubmit'),
});

export const keyedSchedule: Arbitrary<KeyedSchedule> = fc.record({
	keys: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 5 }),
	concurrency: fc.integer({ min: 1, max: 8 }),
	seconds: fc.integer({ min: 1, max: 12 }),
	reusesIds: fc.boolean(),
	tableMs: fc.constantFrom(1, 50, 400),
	tableFails: fc.constantFrom(0, 0, 0.05, 0.3),
	lost: chance,
	refused: chance,
	fails: chance,
	executions: fc.array(planned, { minLength: 1, maxLength: 4 }),
	seed: fc.nat({ max: 1_000_000 }),
});
