import type { Clock } from '../../../client/ports';
import type { CallTable } from '../../../client/orders/table';
import { beginKeyed, keyed, runKeyed } from '../../support/keyed-step';
import { MemoryTable } from '../../support/memory-table';
import { inShort, Step } from '../../support/step';

/** What the next run makes of a batch whose process was killed. */

const ITEMS = 6;
const SLOTS = 2;

const jobs = () =>
	Array.from({ length: ITEMS }, (_, index) =>
		keyed(`p${index}`, index, `k${index}`, { readiness: 'auto' }),
	);

/** Runs a batch with two slots, and kills its process at this time. Then runs the same items again. */
async function killedAt(ms: number) {
	const step = new Step({ maxConcurrent: SLOTS, stopOnError: false });
	const { time, fake } = step;
	fake.latencyMs = 100;
	const table = new MemoryTable(time);
	const dies = time.sleep(ms);
	let isDead = false;
	const whileAlive = async () => {
		if (isDead) await new Promise<never>(() => undefined);
	};
	const clock: Clock = {
		now: () => time.now(),
		sleep: async (...args) => {
			await time.sleep(...args);
			await whileAlive();
		},
	};
	const reach =
		(call: CallTable): CallTable =>
		async (part) => {
			const rows = await call(part);
			await whileAlive();
			return rows;
		};
	step.clock = clock;
	void beginKeyed(step, table, 'killed', jobs(), { reach });
	await time.run(dies);
	isDead = true;
	step.clock = time;
	const running = fake.made.filter(({ endsAt }) => endsAt > time.now());
	const isWaiting = running.length === SLOTS && running.every(({ id }) => table.recordedAt.has(id));
	const { outcomes } = await runKeyed(step, table, 'next', jobs());
	return { isWaiting, outcomes: outcomes.map(inShort), made: fake.made.length };
}

it('a batch is killed while items wait for a slot: in the next run these items are created, not uncertain', async () => {
	let kills = 0;
	for (let ms = 16_000; ms < 31_000; ms += 200) {
		const { isWaiting, outcomes, made } = await killedAt(ms);
		if (!isWaiting) continue;
		kills++;
		expect([ms, outcomes.filter((one) => one === 'uncertain_charge')]).toEqual([ms, []]);
		expect(made).toBe(ITEMS);
	}
	expect(kills).toBeGreaterThan(60);
});
