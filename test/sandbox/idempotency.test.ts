import { VirtualSandbox } from './virtual';

describe('the header Idempotency-Key', () => {
	const create = (sandbox: VirtualSandbox, key?: string) =>
		sandbox.send(
			'POST',
			'/v1/images/generations',
			{ model: 'aurora-image-1', prompt: 'A lighthouse' },
			'main',
			key === undefined ? {} : { 'idempotency-key': key },
		);

	it('is passed over by default, and noted', () => {
		const sandbox = new VirtualSandbox();
		create(sandbox, 'a');
		create(sandbox, 'a');
		expect(sandbox.service.books.totals.created).toBe(2);
		expect(sandbox.service.requests.all.map((record) => record.idempotencyKey)).toEqual(['a', 'a']);
	});

	it('makes a second request come to the generation of the first, where it is honoured', () => {
		const sandbox = new VirtualSandbox({ honoursIdempotencyKeys: true });
		const first = create(sandbox, 'a').body as { id: string };
		sandbox.clock.pass(10);
		expect(create(sandbox, 'a')).toMatchObject({
			status: 200,
			body: { id: first.id, status: 'completed' },
		});
		create(sandbox, 'b');
		expect(sandbox.service.books.totals).toMatchObject({ created: 2, charged: 16 });
	});

	it('that is not there is no key, whatever another one says', () => {
		const sandbox = new VirtualSandbox({ honoursIdempotencyKeys: true });
		for (const key of ['undefined', undefined, undefined, '', '']) create(sandbox, key);
		expect(sandbox.service.books.totals.created).toBe(5);
	});

	it('is not used up by a request that was refused', () => {
		const sandbox = new VirtualSandbox({ honoursIdempotencyKeys: true });
		sandbox.service.occupy('main', 10);
		expect(create(sandbox, 'a').status).toBe(429);
		sandbox.service.occupy('main', 0);
		expect(create(sandbox, 'a').status).toBe(200);
	});
});
