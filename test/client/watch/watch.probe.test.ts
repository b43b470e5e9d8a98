import { OutputProbe } from '../../../client/watch/watch';
import { VirtualTime } from '../../support/virtual-time';

describe("a storage's response to a request for the first byte", () => {
	it.each([
		['that byte', 206, true, 'ready'],
		['a file of one byte', 200, true, 'ready'],
		['that there is no such file', 404, false, 'missing'],
		['that it may not be read', 403, false, 'missing'],
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
		const output = new OutputProbe({ clock, halt, probe });
		expect(await clock.run(output.send('https://storage.test/a', 1000))).toBe(result);
	});
});

describe('the rate of a step’s probes', () => {
	function reserved() {
		const clock = new VirtualTime();
		const halt = new AbortController().signal;
		const output = new OutputProbe({ clock, halt, probe: async () => await Promise.reject() });
		return { clock, reserve: () => output.reserve() };
	}

	it('is at most 25 a second, and a probe that would wait for longer than a second is not sent', async () => {
		const { clock, reserve } = reserved();
		const pauses = Array.from({ length: 100 }, reserve).filter((pause) => pause !== null);
		expect(pauses).toEqual(Array.from({ length: 26 }, (_, index) => index * 40));
		await clock.run(clock.sleep(1000));
		expect(reserve()).toBe(40);
	});

	it('does not grow after a pause without probes', async () => {
		const { clock, reserve } = reserved();
		expect(reserve()).toBe(0);
		await clock.run(clock.sleep(60_000));
		expect([reserve(), reserve()]).toEqual([0, 40]);
	});
});
