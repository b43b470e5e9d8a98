import fc, { type Arbitrary } from 'fast-check';

import { seededRandom } from '../../../sandbox/basics/random';
import { isLive, type TableCall } from '../../../client/orders/table';
import { networkError } from '../../support/answers';
import { answerLost } from '../../support/fake-service';
import type { Outcome } from '../../../client/jobs/outcome';
import type { PipelineResult } from '../../../client/step/pipeline';
import { keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable, prompt, type TableFate } from '../../support/memory-table';
import { sleepThrough, type Night } from '../../support/sleeping-batch';
import { Step } from '../../support/step';

/**
 * Batches that sleep, and whose waves die between two requests or in the middle of one. The same items then run again.
 */

/** The fate of a batch's items: their generations, and the responses to their creating requests. */
type Kind = 'made' | 'fails' | 'fails once' | 'ends otherwise' | 'answer lost';

export interface AsleepSchedule {
	items: Kind[];
	/** How long a generation takes. */
	seconds: number;
	/** Slots of the account, and of the step. */
	limit: number;
	latencyMs: number;
	stopOnError: boolean;
	onUncertainCharge: 'error' | 'resubmit';
	retriesOnFailure: number;
	maxNewGenerations: number | null;
	/** How long each of the first waves lives, in milliseconds; `null`: to its end. */
	lives: Array<number | null>;
	/** When the user stops the batch. */
	stopsAfterMs: number | null;
	/** Number of waves in which the table accepts no ids. */
	wavesWithoutIds: number;
	/** When the service cannot be reached. */
	outage: { fromMs: number; lastsMs: number } | null;
	seed: number;
}

const seldom = <T>(of: Arbitrary<T>) =>
	fc.oneof({ weight: 4, arbitrary: fc.constant<T | null>(null) }, of as Arbitrary<T | null>);
const life = fc.oneof(fc.nat(700), fc.nat(700), fc.nat(5_000), fc.nat(60_000));

export const asleepSchedule: Arbitrary<AsleepSchedule> = fc.record({
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
	seconds: fc.constantFrom(20, 100, 200),
	limit: fc.integer({ min: 1, max: 3 }),
	latencyMs: fc.constantFrom(0, 100, 800),
	stopOnError: fc.boolean(),
	onUncertainCharge: fc.constantFrom('error', 'error', 'resubmit'),
	retriesOnFailure: fc.constantFrom(0, 1, 2),
	maxNewGenerations: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 3 }),
	// The step itself seldom dies, because nothing comes after it.
	lives: fc
		.tuple(seldom(life), fc.array(fc.option(life, { freq: 3 }), { maxLength: 6 }))
		.map(([step, waves]) => [step, ...waves]),
	stopsAfterMs: seldom(fc.oneof(fc.nat(200), fc.nat(400_000))),
	wavesWithoutIds: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 4 })),
	// Earlier, the step would not know whether its Base URL works.
	outage: seldom(
		fc.record({
			fromMs: fc.integer({ min: 5_000, max: 400_000 }),
			lastsMs: fc.integer({ min: 1_000, max: 600_000 }),
		}),
	),
	seed: fc.nat({ max: 1_000_000 }),
});

/** The result of a schedule. */
export interface Asleep {
	schedule: AsleepSchedule;
	night: Night;
	/** The next run of the same items. */
	again: PipelineResult<string>;
	step: Step;
	table: MemoryTable;
}

/** Plays a batch, and then its items again without failures. Throws if a promise is broken. */
export async function playAsleep(schedule: AsleepSchedule): Promise<Asleep> {
	const step = stepOf(schedule);
	const { time } = step;
	const table = new MemoryTable(time);
	const { lives, onUncertainCharge, retriesOnFailure } = schedule;
	const jobs = schedule.items.map((kind, index) =>
		keyed(`${kind} ${index}`, index, `k${index}`, {
			onUncertainCharge,
			retriesOnFailure,
			timeoutMs: 3_600_000,
		}),
	);
	const fate = {
		lives: (wave: number) => lives[wave] ?? Infinity,
		stopsAfterMs: schedule.stopsAfterMs ?? Infinity,
		tableFate: (wave: number, { changes }: TableCall): TableFate => {
			const writesId = changes.some(({ set }) => set?.generation_id);
			return writesId && wave < schedule.wavesWithoutIds ? { ...prompt, fails: 'before' } : prompt;
		},
	};
	const { outage } = schedule;
	let isOver = false;
	if (outage) {
		const from = time.now() + outage.fromMs;
		const down = networkError('ECONNREFUSED', 'connect');
		time.at(from, () => (step.fake.replies = isOver ? [] : [down]));
		time.at(from + outage.lastsMs, () => (step.fake.replies = []));
	}
	const night = await time.run(sleepThrough(step, table, jobs, fate));
	isOver = true;
	step.fake.replies = [];
	judgeNight(schedule, night, step, table);
	await time.run(time.sleep(180_000));
	step.cancel = new AbortController();
	const calmly = { stopOnError: false, maxNewGenerations: null, pollIntervalMs: 60_000 };
	Object.assign(step.settings, calmly);
	const calm = jobs.map((job) => ({ ...job, onUncertainCharge: 'error' as const }));
	const again = await runKeyed(step, table, 'next', calm);
	const played = { schedule, night, again, step, table };
	schedule.items.forEach((_, index) => judge(played, index));
	return played;
}

/** Checks that the batch obeys the stop and the limits, and ends only when its items have. */
function judgeNight(schedule: AsleepSchedule, night: Night, { fake }: Step, table: MemoryTable) {
	const { onUncertainCharge, limit, retriesOnFailure, stopOnError } = schedule;
	const { deaths, end, settled, stoppedAt } = night;
	if (fake.creating.some(({ at }) => stoppedAt !== null && at > stoppedAt)) {
		throw broken(schedule, 'a creating request is sent after the stop');
	}
	// The record does not say how often a wave that died sent a request again.
	const unknown = onUncertainCharge === 'resubmit' ? deaths * limit : 0;
	const allowed = (schedule.maxNewGenerations ?? Infinity) + unknown;
	if (fake.made.length > allowed) {
		throw broken(schedule, `${fake.made.length} generations, although there is a limit`);
	}
	schedule.items.forEach((kind, index) => {
		// Outages are shorter than the timeout. A service that never answered may have another address.
		if (settled[index]?.code === 'connection_failed' && fake.made.length > 0) {
			throw broken(schedule, `item ${index} is ended by an outage`);
		}
		const made = fake.made.filter(({ prompt }) => prompt === `${kind} ${index}`);
		const failed = made.filter(({ failure }) => failure !== undefined).length;
		if (failed > 1 + retriesOnFailure + deaths) {
			throw broken(schedule, `item ${index} is created again ${failed} times`);
		}
		if (end !== 'over' || stopOnError) return;
		const rows = table.rows.filter(({ key }) => key === `k${index}`);
		if (settled[index] || rows.some(({ status }) => status === 'completed')) return;
		throw broken(schedule, `item ${index} has not ended, and the batch has`);
	});
}

function stepOf({ seed, seconds, limit, latencyMs, items, ...settings }: AsleepSchedule): Step {
	const random = seededRandom(seed);
	const { stopOnError, maxNewGenerations } = settings;
	const pollIntervalMs = 10_000;
	const step = new Step({ maxConcurrent: limit, stopOnError, maxNewGenerations, pollIntervalMs });
	const { fake } = step;
	step.random = random;
	fake.slots = limit;
	fake.latencyMs = latencyMs;
	fake.durationMs = () => 1000 * seconds * (0.8 + 0.4 * random());
	fake.failure = (prompt) => {
		const isFirst = !fake.made.some((one) => one.prompt === prompt);
		return prompt.startsWith('fails') && (isFirst || !prompt.startsWith('fails once'))
			? 'out of paint'
			: undefined;
	};
	fake.end = (prompt) =>
		prompt.startsWith('ends otherwise') ? { status: 'Timed Out' } : undefined;
	items.forEach((kind, index) => {
		if (kind === 'answer lost') fake.order(`${kind} ${index}`, answerLost);
	});
	return step;
}

/**
 * Checks that the next run returns everything that was charged, or that the item may have been charged according to its
 * error.
 */
function judge({ schedule, night, again, step, table }: Asleep, index: number): void {
	const kind = schedule.items[index];
	const made = step.fake.made.filter(({ prompt }) => prompt === `${kind} ${index}`);
	const charged = made.filter(({ failure }) => failure === undefined).map(({ id }) => id);
	const rows = table.rows.filter(({ key }) => key === `k${index}`);
	const known = rows.filter(isLive).map((row) => row.generation_id);
	const code = codeOf(again.outcomes[index]);
	const blame = (what: string) => {
		throw broken(schedule, `item ${index} ${what}`);
	};
	// A request is sent again only if the user chose so.
	if (schedule.onUncertainCharge === 'error' && charged.length > 1) blame('is charged twice');
	if (code === 'uncertain_charge') {
		if (known.some((id) => charged.includes(id))) blame('is uncertain, although it is on record');
		// An id that the table rejected is lost with its wave, or with the batch. The id of a failed generation must be
		// stored in time.
		const isCut =
			night.deaths > 0 ||
			(schedule.wavesWithoutIds > 0 && night.end !== 'over') ||
			(schedule.wavesWithoutIds > 1 && kind.startsWith('fails'));
		if (!isCut && kind !== 'answer lost') blame('is uncertain without a reason');
	} else if (code === 'generation_failed') {
		if (!kind.startsWith('fails')) blame('failed');
		if (charged.length > 0) blame('failed, although it is charged');
	} else if (code === 'generation_ended') {
		if (kind !== 'ends otherwise') blame('ended otherwise');
	} else if (code !== undefined || kind === 'ends otherwise') {
		blame(`ended with ${code}`);
	} else if (!known.some((id) => charged.includes(id))) {
		blame('is lost');
	} else if (rows.every(({ status }) => status !== 'completed')) {
		blame('did not end');
	}
}

function broken(schedule: AsleepSchedule, what: string): Error {
	return new Error(`${what}\nAsleep: ${JSON.stringify(schedule)}`);
}

/** Counts what happened in many schedules, to check that they were not free of failures. */
export class AsleepTally {
	schedules = 0;
	waves = 0;
	deaths = 0;
	stops = 0;
	generations = 0;
	uncertain = 0;
	outages = 0;
	refunds = 0;
	/** Batches that were ended by a limit. */
	limited = 0;

	add({ schedule, night, again, step }: Asleep): void {
		const { made } = step.fake;
		this.schedules++;
		this.waves += night.waves;
		this.deaths += night.deaths;
		this.outages += schedule.outage ? 1 : 0;
		this.stops += night.stoppedAt === null ? 0 : 1;
		this.generations += made.length;
		this.refunds += made.filter(({ failure }) => failure !== undefined).length;
		const codes = again.outcomes.map(codeOf);
		this.uncertain += codes.filter((code) => code === 'uncertain_charge').length;
		const settled = Object.values(night.settled);
		if (settled.some((error) => error?.code === 'generation_limit_reached')) this.limited++;
	}

	toString(): string {
		const { waves, deaths, stops, outages, generations, uncertain, refunds, limited } = this;
		return `${waves} waves, ${deaths} of them died; ${outages} outages; ${stops} batches stopped, ${limited} ended by a limit; ${generations} generations, ${refunds} refunded; ${uncertain} uncertain items`;
	}
}

function codeOf(outcome: Outcome<string>): string | undefined {
	return outcome.kind === 'error' ? outcome.error.code : undefined;
}
