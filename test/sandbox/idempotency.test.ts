import type { GenerationEntry } from '../../sandbox/generations/generations';
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

	it('is ignored by default, but recorded', () => {
		const sandbox = new VirtualSandbox();
		create(sandbox, 'a');
		create(sandbox, 'a');
		expect(sandbox.service.books.totals.created).toBe(2);
		expect(sandbox.service.requests.all.map((record) => record.idempotencyKey)).toEqual(['a', 'a']);
	});

	it('makes a second request return the first generation, with a valid URL, if the option is on', () => {
		const sandbox = new VirtualSandbox({ honorsIdempotencyKeys: true });
		const first = create(sandbox, 'a').body as GenerationEntry;
		sandbox.clock.pass(2 * 3600);
		const { status, body } = create(sandbox, 'a');
		expect([status, body]).toMatchObject([200, { id: first.id, status: 'completed' }]);
		expect(sandbox.fetch((body as GenerationEntry).data[0].url).status).toBe(200);
		for (const key of ['b', 'undefined', undefined, undefined, '', '']) create(sandbox, key);
		expect(sandbox.service.books.totals).toMatchObject({ created: 7, charged: 56 });
	});
});
