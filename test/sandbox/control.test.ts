import { startSandbox } from '../../sandbox/server';
import type { Sandbox } from '../../sandbox/server';
import { http } from '../../tools/http';
import { createOverHttp } from './over-http';
import { VirtualClock } from './virtual';

let sandbox: Sandbox;
const clock = new VirtualClock();

beforeAll(async () => (sandbox = await startSandbox({ clock, generationSeconds: 10 })));
afterAll(() => sandbox.close());
beforeEach(() => sandbox.reset());

const balance = async () => {
	const { data } = await http.get<Array<{ name: string; balance: number }>>(
		`${sandbox.url}/_sandbox/accounts`,
	);
	return data.find(({ name }) => name === 'main')?.balance;
};

describe('the balance of an account, read and set from outside', () => {
	it('includes the refund of a generation that has just failed', async () => {
		await createOverHttp(sandbox, { prompt: '[fail]' });
		expect(await balance()).toBe(99_999);
		clock.pass(10);
		expect(await balance()).toBe(100_000);
	});

	it('is not raised later by a refund that was due before it was set', async () => {
		await createOverHttp(sandbox, { prompt: '[fail]' });
		clock.pass(10);
		const order = { account: 'main', credits: 50 };
		const { data } = await http.post<unknown>(`${sandbox.url}/_sandbox/accounts`, order);
		expect(data).toMatchObject({ balance: 50 });
		expect(sandbox.books.totals.refunded).toBe(1);
		expect(await balance()).toBe(50);
	});
});
