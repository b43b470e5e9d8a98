import fc, { type Arbitrary } from 'fast-check';

import { earlyBreakages, gatekeeperAnswers, gatewayAnswers, midwayBreakages } from './faults';
import { storageNames } from './storages';
import type {
	Answer,
	Cancel,
	CreateFate,
	Item,
	LookFate,
	Outage,
	Schedule,
	Settings,
	Try,
} from './schedule';

/** Random schedules. Shrinking reduces the number of items, tries and faults. */

/** Shrinks to the first choice. */
function weighted<T>(...choices: Array<[weight: number, arbitrary: Arbitrary<T>]>): Arbitrary<T> {
	return fc.oneof(
		{ withCrossShrink: true },
		...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })),
	);
}

/** Shrinks by removing the last elements, so that the others keep their positions. */
function list<T>(of: Arbitrary<T>, length: Arbitrary<number>, longest: number): Arbitrary<T[]> {
	return fc
		.tuple(length, fc.array(of, { minLength: longest, maxLength: longest }))
		.map(([count, all]) => all.slice(0, count));
}

function upTo(max: number, min = 0): Arbitrary<number> {
	return fc.integer({ min, max });
}

const latency = weighted(
	[12, fc.constant(40)],
	[4, fc.integer({ min: 1, max: 9_000 })],
	[1, fc.integer({ min: 50_000, max: 70_000 })],
);

const midway = fc.constantFrom(...midwayBreakages).map((how): Answer => ({ kind: 'none', how }));
const early = fc.constantFrom(...earlyBreakages).map((how): Answer => ({ kind: 'none', how }));
const gateway = fc
	.constantFrom(...gatewayAnswers)
	.map((name): Answer => ({ kind: 'foreign', name }));
const gatekeeper = fc
	.constantFrom(...gatekeeperAnswers)
	.map((name): Answer => ({ kind: 'foreign', name }));
const passing = fc
	.constantFrom('server_error', 'model_unavailable', 'service_unavailable')
	.map((code): Answer => ({ kind: 'refusal', code: code as 'server_error' }));
const refusal = fc
	.constantFrom(
		'CONCURRENCY_LIMIT_REACHED',
		'insufficient_credits',
		'insufficient_credits_403',
		'CONNECTION_PAUSED',
		'CONNECTION_LIMIT_REACHED',
		'forbidden',
		'authentication_error',
		'expired_api_key',
		'invalid_api_key',
		'invalid_parameter',
		'payload_too_large',
		'generation_in_progress',
		'model_not_found',
	)
	.map((code): Answer => ({ kind: 'refusal', code: code as 'forbidden' }));
const slotRefusal = fc.constant<Answer>({ kind: 'refusal', code: 'CONCURRENCY_LIMIT_REACHED' });
/** A rejection that asks to wait for this many seconds. */
const asking: Arbitrary<Answer> = fc
	.tuple(
		fc.constantFrom<Answer>(
			{ kind: 'refusal', code: 'CONCURRENCY_LIMIT_REACHED' },
			{ kind: 'refusal', code: 'service_unavailable' },
			{ kind: 'foreign', name: 'html429' },
			{ kind: 'foreign', name: 'empty503' },
		),
		fc.constantFrom(1, 7, 30, 100, 5_000),
	)
	.map(([answer, retryAfter]): Answer => ({ ...answer, retryAfter }) as Answer);
const lostSight = fc.constant<Answer>({ kind: 'refusal', code: 'generation_not_found' });
const own = fc.constant<Answer>({ kind: 'own' });

const done = weighted<CreateFate['work']>(
	[4, fc.constant('done')],
	[1, fc.constant('fails later')],
	[1, fc.constant('ends otherwise')],
);
const notDone = fc.constant<CreateFate['work']>('not done');

const createFate: Arbitrary<CreateFate> = weighted(
	[12, fc.record({ work: done, answer: own, ms: latency })],
	[4, fc.record({ work: done, answer: weighted([2, midway], [1, gateway]), ms: latency })],
	[2, fc.record({ work: notDone, answer: weighted([2, midway], [1, gateway]), ms: latency })],
	[2, fc.record({ work: notDone, answer: weighted([2, early], [1, gatekeeper]), ms: latency })],
	[2, fc.record({ work: notDone, answer: passing, ms: latency })],
	[2, fc.record({ work: notDone, answer: slotRefusal, ms: latency })],
	[2, fc.record({ work: notDone, answer: asking, ms: latency })],
	[2, fc.record({ work: notDone, answer: refusal, ms: latency })],
);

const lookFate: Arbitrary<LookFate> = fc.record({
	answer: weighted(
		[16, own],
		[2, midway],
		[1, early],
		[2, passing],
		[2, gateway],
		[1, gatekeeper],
		[1, lostSight],
		[1, asking],
	),
	ms: latency,
});

const outage: Arbitrary<Outage> = fc.record({
	fromSeconds: fc.integer({ min: 0, max: 30 }),
	seconds: fc.integer({ min: 1, max: 200 }),
	answer: weighted([2, early], [2, passing], [1, gateway], [1, midway], [1, gatekeeper]),
});

const cancel: Arbitrary<Cancel> = fc.record({
	when: fc.constantFrom('request', 'answer', 'seconds'),
	value: fc.integer({ min: 0, max: 30 }),
});

const settings: Arbitrary<Settings> = fc.record({
	onUncertainCharge: weighted<Settings['onUncertainCharge']>(
		[2, fc.constant('error')],
		[1, fc.constant('resubmit')],
	),
	stopOnError: fc.boolean(),
	onTimeout: fc.constantFrom('error', 'continue'),
	wait: weighted([4, fc.constant(true)], [1, fc.constant(false)]),
	retriesOnFailure: weighted([3, fc.constant(0)], [1, upTo(3, 1)]),
	fallbacks: weighted([3, fc.constant(0)], [1, upTo(2, 1)]),
	maxNewGenerations: weighted([4, fc.constant(null)], [1, upTo(5)]),
	maxCredits: weighted([4, fc.constant(null)], [1, upTo(60)]),
	minimumBalance: weighted([4, fc.constant(null)], [1, upTo(60).map((spent) => 100_000 - spent)]),
	maxConcurrent: fc.integer({ min: 1, max: 12 }),
	timeoutSeconds: fc.constantFrom(120, 4, 10, 40),
});

/** Mostly none. */
function some<T>(of: Arbitrary<T>, maxLength: number): Arbitrary<T[]> {
	return weighted([3, fc.constant([])], [1, fc.array(of, { minLength: 1, maxLength })]);
}

const disturbances: Arbitrary<Omit<Try, 'settings'>> = fc.record({
	journal: fc.constantFrom('saved', 'same'),
	creates: list(createFate, upTo(14), 14),
	failing: weighted([12, fc.constant(false)], [1, fc.constant(true)]),
	looks: weighted([1, fc.constant([])], [1, list(lookFate, upTo(12), 12)]),
	outages: some(outage, 2),
	load: some(
		fc.record({
			atSeconds: fc.integer({ min: 0, max: 60 }),
			occupied: fc.integer({ min: 0, max: 12 }),
		}),
		3,
	),
	cancel: weighted([2, fc.constant(null)], [1, cancel]),
	brokenDownloads: some(fc.nat({ max: 3 }), 1),
	brokenItems: some(fc.nat({ max: 3 }), 1),
	buildMs: fc.constantFrom(0, 700),
	pauseSeconds: fc.constantFrom(0, 2, 3600),
});

/** The same settings in all tries, unless the user changes them in between. */
const tries: Arbitrary<Try[]> = fc
	.tuple(
		settings,
		list(fc.tuple(disturbances, weighted([3, fc.constant(null)], [1, settings])), upTo(3, 1), 3),
	)
	.map(([usual, planned]) =>
		planned.map(([disturbed, changed]) => ({ settings: changed ?? usual, ...disturbed })),
	);

const item: Arbitrary<Item> = fc.record({
	type: weighted<Item['type']>([3, fc.constant('image')], [1, fc.constant('video')]),
	prompt: fc.constantFrom('a', 'b'),
});

const items = list(item, weighted([10, upTo(3, 1)], [3, upTo(7, 4)], [1, upTo(12, 8)]), 12);

const basics = {
	items,
	outputs: weighted([2, fc.constant(1)], [1, upTo(3, 2)]),
	concurrency: fc.integer({ min: 1, max: 12 }),
	seconds: list(weighted([6, upTo(9, 1)], [1, upTo(40, 10)]), upTo(4, 1), 4),
	pollSeconds: fc.constantFrom(3, 4),
	readiness: weighted<Schedule['readiness']>([1, fc.constant('status')], [2, fc.constant('auto')]),
	storage: weighted<Schedule['storage']>(
		[1, fc.constant('honest')],
		[1, fc.constantFrom(...storageNames)],
	),
	seed: fc.nat({ max: 1_000_000 }),
};

/** Any schedule of events. */
export const anySchedule: Arbitrary<Schedule> = fc.record({ ...basics, tries });
