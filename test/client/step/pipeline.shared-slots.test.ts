import { SlotPool } from '../../../client/orders/slot-pool';
import { creating, inShort, Step, waitingFor } from '../../support/step';

/**
 * Runs several executions of one n8n that watch the same generation. Its account is full before and after it ends, as
 * others take its slot at once, while another execution waits for a slot.
 *
 * @returns how many creating requests the waiting execution sends within a minute of the end
 */
async function asksAfterEnd(watching: number): Promise<number> {
	const step = new Step({ stopOnError: false });
	const { fake, time } = step;
	step.slots = new SlotPool({ clock: time, random: () => 0.5 });
	fake.slots = 10;
	fake.durationMs = () => 60_000;
	const made = await step.run([creating('watched', 0, { wait: false })]);
	expect(made.outcomes.map(inShort)).toEqual(['pending generation-1']);
	fake.others = () => (fake.running().length > 0 ? 9 : 10);
	const [{ endsAt }] = fake.made;
	const waiting = step.begin([creating('waits', 0, { timeoutMs: 120_000 })]);
	const watchers = Array.from(
		{ length: watching },
		async () => await step.begin([waitingFor('generation-1')]),
	);
	const [blocked, ...watched] = await time.run(Promise.all([waiting, ...watchers]));
	expect(blocked.outcomes.map(inShort)).toEqual(['CONCURRENCY_LIMIT_REACHED']);
	for (const { outcomes } of watched) {
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
	}
	return fake.creating.filter(({ at }) => at >= endsAt && at < endsAt + 60_000).length;
}

describe('a generation that many executions of one n8n watch', () => {
	it('frees one slot when it ends, so that requests to a full account are still spaced out', async () => {
		const once = await asksAfterEnd(1);
		expect(once).toBeLessThan(20);
		expect(await asksAfterEnd(60)).toBe(once);
	});
});
