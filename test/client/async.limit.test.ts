import fc from 'fast-check';

import { limit } from '../../client/async';
import { VirtualTime } from '../support/virtual-time';

/** Returns the start time of each task if the next task in line takes each free slot at once. */
function earliestStarts(most: number, durations: number[]): number[] {
	const freeAt = Array.from({ length: most }, () => 0);
	return durations.map((ms) => {
		const place = freeAt.indexOf(Math.min(...freeAt));
		const start = freeAt[place];
		freeAt[place] += ms;
		return start;
	});
}

describe('a limit', () => {
	it('never runs more tasks at once, starts them in order, and leaves no slot free', async () => {
		const plans = fc.array(fc.record({ ms: fc.nat(50), fails: fc.boolean() }), { maxLength: 30 });
		await fc.assert(
			fc.asyncProperty(fc.integer({ min: 1, max: 6 }), plans, async (most, tasks) => {
				const time = new VirtualTime(0);
				const run = limit(most);
				const begunAt: number[] = [];
				let running = 0;
				const ended = await time.run(
					Promise.allSettled(
						tasks.map(async ({ ms, fails }, index) =>
							run(async () => {
								expect(++running).toBeLessThanOrEqual(most);
								begunAt[index] = time.now();
								await time.sleep(ms);
								running--;
								if (fails) throw new Error(`Task ${index}`);
								return index;
							}),
						),
					),
				);
				expect(begunAt).toEqual(
					earliestStarts(
						most,
						tasks.map(({ ms }) => ms),
					),
				);
				expect(ended).toEqual(
					tasks.map(({ fails }, index) =>
						fails
							? { status: 'rejected', reason: new Error(`Task ${index}`) }
							: { status: 'fulfilled', value: index },
					),
				);
			}),
		);
	});

	it('gives a free slot to the task that has waited longest', async () => {
		const time = new VirtualTime(0);
		const run = limit(1);
		const begun: number[] = [];
		await time.run(
			Promise.all(
				[0, 1, 2, 3].map(async (index) =>
					run(async () => {
						begun.push(index);
						await time.sleep(1);
					}),
				),
			),
		);
		expect(begun).toEqual([0, 1, 2, 3]);
	});

	it('frees the slot of a task that fails', async () => {
		const run = limit(1);
		await expect(run(async () => Promise.reject(new Error('No')))).rejects.toThrow('No');
		await expect(run(async () => 'done')).resolves.toBe('done');
	});
});
