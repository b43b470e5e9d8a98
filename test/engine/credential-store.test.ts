import { GivenCredentials } from '../../tools/engine/credentials';
import { Outgoing } from '../support/outgoing';
import { openStage, prompts } from './stage';

const stage = openStage();

const { getDecrypted } = GivenCredentials.prototype;
const read = jest.spyOn(GivenCredentials.prototype, 'getDecrypted');

afterEach(() => read.mockImplementation(getDecrypted));
afterAll(() => read.mockRestore());

type Read = typeof getDecrypted;

/** n8n reads a credential once for the step, and then for each request: the first is left alone. */
function afterTheFirst(fault: () => Promise<void>): void {
	let reads = 0;
	read.mockImplementation(async function (this: GivenCredentials, ...wanted: Parameters<Read>) {
		if (++reads > 1) await fault();
		return await getDecrypted.apply(this, wanted);
	});
}

describe('a credential store', () => {
	it('that is slow when the user stops: nothing is sent or paid any more', async () => {
		stage.setPace(1);
		const stop = new AbortController();
		const outgoing = new Outgoing();
		const stopped = new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
		let waiting = 0;
		afterTheFirst(async () => {
			if (++waiting === 10) setTimeout(() => stop.abort(), 0);
			await stopped;
			await new Promise((resolve) => setTimeout(resolve, 50));
		});
		const items = prompts(...Array.from({ length: 10 }, (_, index) => `a boat ${index}`));
		const run = await stage.run('imageGeneration', {}, { items, signal: stop.signal });
		await new Promise((resolve) => setTimeout(resolve, 200));
		outgoing.stop();
		expect([waiting, run.status, outgoing.sent]).toEqual([10, 'canceled', []]);
		expect(stage.sandbox.books.totals).toMatchObject({ created: 0, charged: 0 });
		expect(run.logs.filter(({ level }) => level === 'warn')).toEqual([]);
	});

	it('that cannot be read for a moment costs nothing but that moment', async () => {
		let failures = 0;
		afterTheFirst(async () => {
			if (++failures <= 2) throw new Error('Database is locked');
		});
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.error).toBeUndefined();
		expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	});

	it('that cannot be read is no charge that nobody knows of', async () => {
		afterTheFirst(async () => await Promise.reject(new Error('Database is locked')));
		const run = await stage.run('imageGeneration', {}, { items: prompts('a boat') });
		expect(run.error).toMatchObject({
			message: expect.stringContaining('The credential could not be read'),
			description: expect.stringContaining('nothing was charged'),
			context: { code: 'credential_unreadable' },
		});
		expect(stage.arrived).toBe(0);
		read.mockImplementation(getDecrypted);
		const again = await stage.engine.retry(run);
		expect(again.error).toBeUndefined();
		expect(stage.sandbox.books.totals).toMatchObject({ created: 1, charged: 1 });
	});
});
