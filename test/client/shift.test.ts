import { Shift } from '../../client/shift';
import { waitingFor } from '../support/step';
import { VirtualTime } from '../support/virtual-time';

it('sleeps for a part of the longest wait while no duration is known', async () => {
	const time = new VirtualTime();
	const shift = new Shift(time, { sleptMs: 0, durations: [] });
	for (const [index, waitedMs] of [600_000, 60_000].entries()) {
		const waitingSinceMs = time.now() - waitedMs;
		shift.watches(waitingFor(`${index}`, index, { waitingSinceMs }), null);
	}
	const { signal } = new AbortController();
	const running = shift.run(
		() => 0,
		() => undefined,
		signal,
	);
	await time.run(running);
	const sleptMs = (shift.nextShiftAt ?? 0) - time.now();
	expect(sleptMs).toBeGreaterThan(100_000);
	expect(sleptMs).toBeLessThan(101_000);
});
