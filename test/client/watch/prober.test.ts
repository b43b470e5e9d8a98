import { Prober, type Probed } from '../../../client/watch/prober';
import { VirtualTime } from '../../support/virtual-time';

const halted = new AbortController();
const running = new AbortController().signal;

function proberOn(clock: VirtualTime, status = 404, oneByte = false, halt = running) {
	const probe = async () => await Promise.resolve({ status, oneByte });
	return new Prober({ clock, halt, probe, random: () => 0.5 }, 1000);
}

/** A generation of the model `a` that was created, and last found running, so many milliseconds ago. */
function generation(clock: VirtualTime, age: number, seenAge = 0, model: string | null = 'a') {
	const since = clock.now() - age;
	return { since, model, seenAt: since + seenAge, isOver: false } satisfies Probed;
}

describe("a storage's response to a request for the first byte", () => {
	it.each([
		['that byte', 206, true, 'ready'],
		['a file of one byte', 200, true, 'ready'],
		['that there is no such file', 404, false, 'missing'],
		['that it may not be read', 403, false, 'missing'],
		['that it was accepted', 202, false, 'missing'],
		['that there is no content', 204, false, 'missing'],
		['an error page of one byte', 404, true, 'missing'],
		['the whole file', 200, false, 'unusable'],
		['another range than the requested one', 206, false, 'unusable'],
		['a redirect', 302, false, 'unusable'],
		['that its URL is gone', 410, false, 'unusable'],
		['too many requests', 429, false, 'unusable'],
		['a server error', 503, true, 'unusable'],
	])('%s', async (_, status, oneByte, result) => {
		const clock = new VirtualTime();
		const prober = proberOn(clock, status, oneByte);
		expect(await clock.run(prober.send('https://storage.test/a', Infinity))).toBe(result);
	});
});

describe('the rate of a step’s probes', () => {
	/** Lets `count` generations wait for a turn at once. Returns when each of them came. */
	async function turns(prober: Prober, clock: VirtualTime, count: number) {
		const from = clock.now();
		const cameAt: number[] = [];
		await clock.run(
			Promise.all(
				Array.from({ length: count }, async () => {
					if (await prober.turn(generation(clock, 0), Infinity)) cameAt.push(clock.now() - from);
				}),
			),
		);
		return cameAt;
	}

	it('is at most 25 a second', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		expect(await turns(prober, clock, 26)).toEqual(
			Array.from({ length: 26 }, (_, index) => index * 40),
		);
	});

	it('is at most 32 a second while more than twenty generations run', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		prober.running = 100;
		const times = await turns(prober, clock, 80);
		times.forEach((at, index) => {
			if (index >= 32) expect(at - times[index - 32]).toBeGreaterThanOrEqual(1000);
		});
		expect(times.at(-1)).toBeLessThan(2600);
	});

	it('does not grow after a pause without probes', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		expect(await turns(prober, clock, 1)).toEqual([0]);
		await clock.run(clock.sleep(60_000));
		expect(await turns(prober, clock, 2)).toEqual([0, 40]);
	});

	it('lets a generation wait no longer than it wants to', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		await turns(prober, clock, 1);
		const until = clock.now() + 30;
		expect(await clock.run(prober.turn(generation(clock, 0), until))).toBe(false);
		expect(clock.now()).toBe(until);
	});

	it('gives no turn after a Stop', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock, 404, false, halted.signal);
		halted.abort();
		await expect(prober.turn(generation(clock, 0), Infinity)).rejects.toThrow();
	});
});

describe('the next probe', () => {
	/** Returns which of the generations has its turn first. */
	async function firstOf(prober: Prober, clock: VirtualTime, all: Record<string, Probed>) {
		// Another one has used up the first turn.
		await clock.run(prober.turn(generation(clock, 0), Infinity));
		const order: string[] = [];
		const wait = async ([name, probed]: [string, Probed]) => {
			await prober.turn(probed, Infinity);
			order.push(name);
		};
		await clock.run(Promise.all(Object.entries(all).map(wait)));
		return order[0];
	}

	/** Records generations that ended when they were 2 s old. */
	function learn(prober: Prober, clock: VirtualTime, count = 10) {
		for (let made = 0; made < count; made++) {
			prober.ended(generation(clock, 2100, 1900), clock.now());
		}
	}

	it('is for the generation that was not probed for longest, before any has ended', async () => {
		const clock = new VirtualTime();
		const all = { recent: generation(clock, 3000, 2900), long: generation(clock, 3000, 2000) };
		expect(await firstOf(proberOn(clock), clock, all)).toBe('long');
	});

	it('is for the generation that has probably ended, by the duration of others', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		learn(prober, clock);
		const all = { young: generation(clock, 1500, 0), due: generation(clock, 2050, 1850) };
		expect(await firstOf(prober, clock, all)).toBe('due');
	});

	it('does not depend on the durations of another model', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		learn(prober, clock);
		const all = {
			other: generation(clock, 2050, 1850, 'b'),
			long: generation(clock, 2050, 500, 'b'),
		};
		expect(await firstOf(prober, clock, all)).toBe('long');
	});

	it('verifies the storage first, if a generation is known to be over', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		learn(prober, clock);
		const over = { ...generation(clock, 100, 90), isOver: true };
		expect(await firstOf(prober, clock, { due: generation(clock, 2050, 1850), over })).toBe('over');
	});

	it('comes at the time when the generation has probably ended', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		const probed = generation(clock, 1850, 1850);
		const pauseMs = prober.dueAt(probed, 3000) - clock.now();
		expect(pauseMs).toBe(250);
		learn(prober, clock);
		expect(prober.dueAt(probed, 3000) - clock.now()).toBeLessThan(200);
	});

	it('is planned as if nothing were known for a generation that takes longer than all others', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		learn(prober, clock);
		const probed = generation(clock, 60_000, 60_000);
		expect(prober.dueAt(probed, 3000) - clock.now()).toBe(2000);
	});

	it('follows a model that has become slower', async () => {
		const clock = new VirtualTime();
		const prober = proberOn(clock);
		learn(prober, clock, 1000);
		for (let made = 0; made < 100; made++) {
			prober.ended(generation(clock, 4100, 3900), clock.now());
		}
		const all = { fast: generation(clock, 2050, 1850), slow: generation(clock, 4050, 3850) };
		expect(await firstOf(prober, clock, all)).toBe('slow');
	});
});
