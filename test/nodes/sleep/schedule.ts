import fc, { type Arbitrary } from 'fast-check';

import type { Restart } from '../../support/simulated-n8n/n8n';

/** What happens to a step that sleeps, from the requests of its items to the deaths of n8n. */

/** The fate of an item: its generations, and the responses to its creating requests. */
type Kind = 'made' | 'fails' | 'fails once' | 'ends otherwise' | 'answer lost';

/** When n8n is killed. */
export interface Death {
	/**
	 * At the moment of this number in executions of this depth, since the death before: 0 is the step, 1 the guard, 2 the
	 * waves, and 3 the results. `null`: at any time.
	 */
	depth: number | null;
	/** The number of the moment; with no depth, the time in milliseconds. */
	nth: number;
	restart: Restart;
}

/** A time in which something does not work, from the start of the step. All values are in milliseconds. */
interface Outage {
	fromMs: number;
	lastsMs: number;
}

export interface SleepSchedule {
	/** `wait`: Wait for Completion, for generations that exist. */
	node: 'create' | 'wait';
	items: Kind[];
	/** How long a generation takes. */
	seconds: number;
	/** Slots of the account, and of the step. */
	limit: number;
	latencyMs: number;
	databaseMs: number;
	mode: 'regular' | 'queue';
	readiness: 'auto' | 'status';
	stopOnError: boolean;
	retryOnFail: boolean;
	onUncertainCharge: 'error' | 'resubmit';
	retriesOnFailure: number;
	maxNewGenerations: number | null;
	/** True if the output has files, which the results workflow must own. */
	hasFiles: boolean;
	/** True if the user's workflow keeps executions that succeed. */
	keeps: boolean;
	deaths: Death[];
	/** When the user stops an execution of this depth. */
	stop: { afterMs: number; depth: number } | null;
	/** When the service does not work. */
	outage: (Outage & { how: 'down' | 'unavailable' | 'busy' }) | null;
	/** When the data tables fail, or are slow. */
	tables: (Outage & { how: 'before' | 'after' | 'slow' }) | null;
	seed: number;
}

const seldom = <T>(of: Arbitrary<T>, weight = 4) =>
	fc.oneof({ weight, arbitrary: fc.constant<T | null>(null) }, of as Arbitrary<T | null>);

const restart: Arbitrary<Restart> = fc.record({
	downMs: fc.constantFrom(1_000, 5_000, 90_000),
	tablesMs: fc.constantFrom(200, 3_000, 8_000),
	recoveryMs: fc.constantFrom(50, 2_000, 8_000),
	amendMs: fc.constantFrom(5, 100, 1_000),
});

const death: Arbitrary<Death> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.record({
			depth: fc.constantFrom(1, 2, 2, 3, 3),
			nth: fc.oneof(fc.nat(20), fc.nat(80), fc.nat(400)),
			restart,
		}),
	},
	{
		weight: 1,
		arbitrary: fc.record({ depth: fc.constant(null), nth: fc.nat(600_000), restart }),
	},
	// The step itself seldom dies, because nothing comes after it.
	{
		weight: 1,
		arbitrary: fc.record({ depth: fc.constant(0), nth: fc.nat(120), restart }),
	},
);

const outage = { fromMs: fc.integer({ min: 5_000, max: 400_000 }) };

/** Any schedule. */
export const sleepSchedule: Arbitrary<SleepSchedule> = fc.record({
	node: fc.constantFrom<Array<SleepSchedule['node']>>('create', 'create', 'create', 'wait'),
	items: fc.array(
		fc.constantFrom<Kind[]>(
			'made',
			'made',
			'made',
			'fails',
			'fails once',
			'answer lost',
			'ends otherwise',
		),
		{ minLength: 1, maxLength: 5 },
	),
	seconds: fc.constantFrom(60, 200, 300),
	limit: fc.integer({ min: 1, max: 3 }),
	latencyMs: fc.constantFrom(0, 100, 800),
	databaseMs: fc.constantFrom(2, 20, 150),
	mode: fc.constantFrom<Array<SleepSchedule['mode']>>('regular', 'regular', 'queue'),
	readiness: fc.constantFrom<Array<SleepSchedule['readiness']>>('auto', 'status', 'status'),
	stopOnError: fc.boolean(),
	retryOnFail: fc.constantFrom(false, false, false, true),
	onUncertainCharge: fc.constantFrom('error', 'error', 'resubmit'),
	retriesOnFailure: fc.constantFrom(0, 1, 2),
	maxNewGenerations: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 3 }),
	hasFiles: fc.boolean(),
	keeps: fc.constantFrom(true, true, true, false),
	deaths: fc.oneof(
		{ weight: 1, arbitrary: fc.constant<Death[]>([]) },
		{ weight: 3, arbitrary: death.map((one) => [one]) },
		{ weight: 2, arbitrary: fc.array(death, { minLength: 2, maxLength: 4 }) },
	),
	stop: seldom(
		fc.record({
			afterMs: fc.oneof(fc.nat(2_000), fc.nat(600_000)),
			depth: fc.constantFrom(0, 0, 0, 1, 2, 3),
		}),
	),
	outage: seldom(
		fc.record({
			// Earlier, the step would not know whether its Base URL works.
			...outage,
			lastsMs: fc.integer({ min: 1_000, max: 600_000 }),
			how: fc.constantFrom('down', 'unavailable', 'busy'),
		}),
	),
	tables: seldom(
		fc.record({
			...outage,
			lastsMs: fc.oneof(fc.integer({ min: 1_000, max: 25_000 }), fc.nat(300_000)),
			how: fc.constantFrom('before', 'after', 'slow'),
		}),
		6,
	),
	seed: fc.nat({ max: 1_000_000 }),
});

/** A schedule in which nothing goes wrong. */
export const calm: SleepSchedule = {
	node: 'create',
	items: ['made', 'made', 'made'],
	seconds: 150,
	limit: 2,
	latencyMs: 0,
	databaseMs: 2,
	mode: 'regular',
	readiness: 'status',
	stopOnError: false,
	retryOnFail: false,
	onUncertainCharge: 'error',
	retriesOnFailure: 0,
	maxNewGenerations: null,
	hasFiles: false,
	keeps: true,
	deaths: [],
	stop: null,
	outage: null,
	tables: null,
	seed: 0,
};
