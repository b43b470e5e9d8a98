import { signOf, Storage } from '../../../client/watch/output-probe';

describe("what a storage's answer to a question for the first byte tells", () => {
	it.each([
		['that byte', 206, true, 'ready'],
		['a file of one byte', 200, true, 'ready'],
		['that there is no such file', 404, false, 'not yet'],
		['that it may not be read', 403, false, 'not yet'],
		['an error page of one byte', 404, true, 'not yet'],
		['the whole file', 200, false, 'nothing'],
		['a range that is not the one asked for', 206, false, 'nothing'],
		['a redirect', 302, false, 'nothing'],
		['that its URL is gone', 410, false, 'nothing'],
		['too many requests', 429, false, 'nothing'],
		['trouble', 503, true, 'nothing'],
	])('%s', (_, status, oneByte, sign) => {
		expect(signOf({ status, oneByte })).toBe(sign);
	});
});

describe('the pace of a step’s probes', () => {
	it('is at most 25 a second, and whoever would wait for longer than a second is turned away', () => {
		const storage = new Storage();
		const turns = Array.from({ length: 100 }, () => storage.turn(5000));
		const given = turns.filter((turn) => turn !== null);
		expect(given).toHaveLength(26);
		given.forEach((turn, index) => expect(turn).toBe(index * 40));
		expect(storage.turn(6000)).toBe(40);
	});

	it('saves up no turns', () => {
		const storage = new Storage();
		expect([storage.turn(0), storage.turn(60_000), storage.turn(60_000)]).toEqual([0, 0, 40]);
	});
});
