import fc from 'fast-check';
import { seededRandom } from '../../sandbox/basics/random';
import { answerLost } from '../support/fake-service';
import { keyed } from '../support/keyed-step';
import { MemoryTable } from '../support/memory-table';
import { sleepThrough, type Night } from '../support/sleeping-batch';
import { Step } from '../support/step';

/** The proof of `payment.property.test.ts` for batches whose waves die, between two requests or in the middle of one. */

/** How many schedules are played. */
const RUNS = Number(process.env.MEDIA_WAVES ?? 1000);

const schedule = fc.record({
	seed: fc.nat(1_000_000),
	seconds: fc.constantFrom(20, 100, 300),
	limit: fc.integer({ min: 1, max: 3 }),
	stopOnError: fc.boolean(),
	onUncertainCharge: fc.constantFrom('error' as const, 'resubmit' as const),
	items: fc.array(fc.constantFrom('made', 'fails', 'answer lost'), { minLength: 1, maxLength: 6 }),
	/** How long each of the first waves lives, in milliseconds; `null`: to its end. */
	lives: fc.array(fc.option(fc.oneof(fc.nat(1_000), fc.nat(120_000))), { maxLength: 6 }),
	latencyMs: fc.constantFrom(0, 100, 800),
});

type Schedule = typeof schedule extends fc.Arbitrary<infer T> ? T : never;

async function play(plan: Schedule): Promise<{ step: Step; table: MemoryTable; night: Night }> {
	const { seed, seconds, limit, stopOnError, onUncertainCharge, items, lives, latencyMs } = plan;
	const random = seededRandom(seed);
	const step = new Step({ maxConcurrent: limit, stopOnError });
	const { fake } = step;
	step.random = random;
	fake.slots = limit;
	fake.latencyMs = latencyMs;
	fake.durationMs = () => 1000 * seconds * (0.8 + 0.4 * random());
	fake.failure = (text) => (text.startsWith('fails') ? 'out of paint' : undefined);
	items.forEach((kind, index) => {
		if (kind === 'answer lost') fake.order(`${kind} ${index}`, answerLost);
	});
	const jobs = items.map((kind, index) =>
		keyed(`${kind} ${index}`, index, `k${index}`, { onUncertainCharge, timeoutMs: 3_600_000 }),
	);
	const table = new MemoryTable(step.time);
	const lifeOf = (wave: number) => lives[wave] ?? Infinity;
	return { step, table, night: await step.time.run(sleepThrough(step, table, jobs, lifeOf)) };
}

it('no item of a sleeping batch is charged twice or lost, whatever wave dies', async () => {
	let deaths = 0;
	let uncertain = 0;
	const property = fc.asyncProperty(schedule, async (plan) => {
		const { step, table, night } = await play(plan);
		deaths += plan.lives.filter((ms) => ms !== null).length;
		plan.items.forEach((kind, index) => {
			const made = step.fake.made.filter(({ prompt }) => prompt === `${kind} ${index}`);
			const live = made.filter(({ failure }) => failure === undefined);
			const rows = table.rows.filter(({ key }) => key === `k${index}`);
			const error = night.settled[index]?.code;
			if (error === 'uncertain_charge') uncertain++;
			const resubmits = plan.onUncertainCharge === 'resubmit';
			if (!resubmits && live.length > 1) throw new Error(`item ${index} is charged twice`);
			// What is charged is on record, or its item says that it may be charged.
			const known = rows.map(({ generation_id: id }) => id);
			const unknown = live.filter(({ id }) => !known.includes(id));
			if (unknown.length > 0 && error !== 'uncertain_charge' && !resubmits) {
				const open = rows.some(({ status }) => status === 'sent');
				if (!open || !endedEarly(plan, night)) throw new Error(`item ${index} is lost`);
			}
			if (error === undefined && !endedEarly(plan, night)) {
				if (rows[0]?.status !== 'completed') throw new Error(`item ${index} did not end`);
			}
			if (kind === 'fails' && error === undefined && !endedEarly(plan, night)) {
				throw new Error(`item ${index} failed, and no error says so`);
			}
		});
	});
	await fc.assert(property, { numRuns: RUNS, seed: 20_260_101, includeErrorInReport: true });
	expect(deaths).toBeGreaterThan(RUNS / 2);
	expect(uncertain).toBeGreaterThan(RUNS / 20);
}, 600_000);

/** True if an error ended the batch before all of its items. */
function endedEarly({ stopOnError }: Schedule, { settled }: Night): boolean {
	return stopOnError && Object.values(settled).some((error) => error !== null);
}
