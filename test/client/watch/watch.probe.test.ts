import { OutputProbe } from '../../../client/watch/watch';
import { VirtualTime } from '../../support/virtual-time';

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
		const halt = new AbortController().signal;
		const probe = async () => await Promise.resolve({ status, oneByte });
		const output = new OutputProbe({ clock, halt, probe }, 1000);
		expect(await clock.run(output.send('https://storage.test/a', Infinity))).toBe(result);
	});
});

describe('the rate of a step’s probes', () => {
	/** Sends `count` probes at once. Returns when each one was sent. */
	function probing() {
		const clock = new VirtualTime();
		const halt = new AbortController().signal;
		const sentAt: number[] = [];
		const probe = async () =>
			await Promise.resolve({ status: sentAt.push(clock.now()), oneByte: false });
		const output = new OutputProbe({ clock, halt, probe }, 1000);
		const pauses = async (count: number, mayWait?: boolean) => {
			const from = clock.now();
			sentAt.length = 0;
			const sends = Array.from(
				{ length: count },
				async () => await output.send('', Infinity, mayWait),
			);
			const results = await clock.run(Promise.all(sends));
			expect(results.filter((result) => result !== 'crowded')).toHaveLength(sentAt.length);
			return sentAt.map((at) => at - from);
		};
		return { clock, pauses };
	}

	it('is at most 25 a second, and a probe that would wait for longer than a second is not sent', async () => {
		const { pauses } = probing();
		expect(await pauses(100)).toEqual(Array.from({ length: 26 }, (_, index) => index * 40));
		expect(await pauses(1)).toEqual([40]);
	});

	it('does not grow after a pause without probes', async () => {
		const { clock, pauses } = probing();
		expect(await pauses(1)).toEqual([0]);
		await clock.run(clock.sleep(60_000));
		expect(await pauses(2)).toEqual([0, 40]);
	});

	it('drops a probe that may not wait, which still uses its time slot', async () => {
		const { pauses } = probing();
		expect(await pauses(2, false)).toEqual([0]);
		expect(await pauses(1)).toEqual([80]);
	});
});
