import { refusal } from '../../support/answers';
import { Desk, requestOf } from '../../support/desk';
import { creating } from '../../support/step';

describe('a generation that an earlier try has made', () => {
	it.each([
		['processing', 1000],
		['completed', 20_000],
	])('is taken up: it was %s', async (status, age) => {
		const desk = new Desk();
		await desk.obtain('cat');
		await desk.time.run(desk.time.sleep(age));
		const { generation, takenUp } = await desk.obtain('cat');
		expect([generation.item.id, takenUp]).toEqual(['generation-1', true]);
		expect(desk.fake.creating).toHaveLength(1);
		expect(desk.fake.looksAt('generation-1')).toHaveLength(1);
		expect(generation.item.status).toBe(status);
		expect(await desk.entry('cat')).toEqual({ id: 'generation-1', status });
		expect(desk.submission.stats).toEqual({ made: 1, takenUp: 1 });
	});

	it('and that has failed since is made anew', async () => {
		const desk = new Desk();
		desk.fake.failure = () => (desk.fake.made.length < 1 ? 'out of paint' : undefined);
		await desk.obtain('cat');
		await desk.time.run(desk.time.sleep(20_000));
		const { generation, takenUp } = await desk.obtain('cat');
		expect([generation.item.id, takenUp]).toEqual(['generation-2', false]);
		expect(await desk.entry('cat')).toEqual({ id: 'generation-2', status: 'pending' });
		expect(desk.submission.stats).toEqual({ made: 2, takenUp: 0 });
	});

	it('and that was seen to fail is made anew without asking', async () => {
		const desk = new Desk();
		desk.fake.failure = () => 'out of paint';
		const { generation } = await desk.obtain('cat');
		const failed = { ...generation, item: { ...generation.item, status: 'failed' } };
		desk.ledger.record(desk.ledger.key(0, await requestOf(creating('cat'))), failed);
		expect((await desk.obtain('cat')).generation.item.id).toBe('generation-2');
		expect(desk.fake.looksAt('generation-1')).toEqual([]);
	});

	it('is none of a changed request, which is a new one', async () => {
		const desk = new Desk();
		await desk.obtain('cat');
		expect((await desk.obtain('dog')).takenUp).toBe(false);
		expect(desk.fake.made).toHaveLength(2);
	});

	it('is never made a second time because it cannot be looked at', async () => {
		const desk = new Desk();
		await desk.obtain('cat');
		desk.fake.orderLooks(() => refusal(403, 'forbidden'));
		expect(await desk.refusalOf('cat')).toMatchObject({
			code: 'forbidden',
			charge: 'paid',
			generation: { id: 'generation-1' },
		});
		expect(await desk.entry('cat')).toEqual({ id: 'generation-1', status: 'pending' });
		expect(desk.fake.creating).toHaveLength(1);
	});
});
