import { wallClock } from '../../nodes/shared/clock';

const { sleep } = wallClock;

/**
 * Lets time run `factor` times as fast for the nodes, for as long as the test file lasts, and returns the clock of
 * that time: whoever else goes by it (the sandbox) lives in the same time. Nothing else changes: a minute of polling
 * is as many looks as ever.
 */
export function speedUp(factor: number): { now: () => number } {
	const began = Date.now();
	const now = () => began + (Date.now() - began) * factor;
	jest.spyOn(wallClock, 'now').mockImplementation(now);
	jest
		.spyOn(wallClock, 'sleep')
		.mockImplementation(async (ms, signal) => await sleep(ms / factor, signal));
	return { now };
}
