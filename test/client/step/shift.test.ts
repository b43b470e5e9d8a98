import { Shift } from '../../../client/step/shift';
import { VirtualTime } from '../../support/virtual-time';

const NOTHING_STARTS = { starting: 0, waiting: 0, pausedUntil: Infinity, heldUntil: 0 };

it('sleeps for a part of the longest wait while no duration is known', async () => {
	const time = new VirtualTime();
	const shift = new Shift(time, { sleptMs: 0, durations: [] });
	const runningSince = [600_000, 60_000].map((waitedMs) => time.now() - waitedMs);
	const { signal } = new AbortController();
	const running = shift.run(
		() => ({ ...NOTHING_STARTS, runningSince, deadline: Infinity }),
		() => undefined,
		signal,
	);
	await time.run(running);
	const sleptMs = (shift.nextShiftAt ?? 0) - time.now();
	expect(sleptMs).toBeGreaterThan(100_000);
	expect(sleptMs).toBeLessThan(101_000);
});

it('wakes when an item times out, although the other generations take much longer', async () => {
	const time = new VirtualTime();
	const shift = new Shift(time, { sleptMs: 0, durations: [1_500_000] });
	const deadline = time.now() + 60_000;
	const { signal } = new AbortController();
	const progress = { ...NOTHING_STARTS, runningSince: [time.now()], deadline };
	await time.run(
		shift.run(
			() => progress,
			() => undefined,
			signal,
		),
	);
	expect(shift.nextShiftAt).toBe(deadline);
});
