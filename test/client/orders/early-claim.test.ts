import { EarlyClaim, type Held } from '../../../client/orders/early-claim';

describe('an early claim', () => {
	/** The machine is suspended after the claim: its clock goes on, and its timers do not fire yet. */
	async function taken(afterMs: number) {
		let now = 1_000;
		const release = jest.fn();
		const clock = { now: () => now, sleep: async () => await new Promise<void>(() => {}) };
		const early = new EarlyClaim(clock, release);
		const held = { header: 'h' } as Held;
		early.begin(async () => await Promise.resolve(held));
		now += afterMs;
		return { isUsed: (await early.take()) === held, released: release.mock.calls.length };
	}

	it('is used', async () => {
		expect(await taken(19_000)).toEqual({ isUsed: true, released: 0 });
	});

	it('is taken back if it is too old: another execution may treat its writer as dead', async () => {
		expect(await taken(20_000)).toEqual({ isUsed: false, released: 1 });
	});
});
