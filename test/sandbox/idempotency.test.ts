import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

	it('makes a second request return the first generation, if the option is on', () => {
		const sandbox = new VirtualSandbox({ honorsIdempotencyKeys: true });
		const first = create(sandbox, 'a').body as { id: string };
		sandbox.clock.pass(10);
		expect(create(sandbox, 'a')).toMatchObject({
			status: 200,
			body: { id: first.id, status: 'completed' },
		});
		create(sandbox, 'b');
		expect(sandbox.service.books.totals).toMatchObject({ created: 2, charged: 16 });
	});

	it('does not count as a key if it is missing or empty', () => {
		const sandbox = new VirtualSandbox({ honorsIdempotencyKeys: true });
		for (const key of ['undefined', undefined, undefined, '', '']) create(sandbox, key);
		expect(sandbox.service.books.totals.created).toBe(5);
	});

	it('is not used up by a rejected request', () => {
		const sandbox = new VirtualSandbox({ honorsIdempotencyKeys: true });
		sandbox.service.occupy('main', 10);
		expect(create(sandbox, 'a').status).toBe(429);
		sandbox.service.occupy('main', 0);
		expect(create(sandbox, 'a').status).toBe(200);
	});

	it('returns a URL that is valid, even if the first one has expired', () => {
		const sandbox = new VirtualSandbox({ honorsIdempotencyKeys: true });
		create(sandbox, 'a');
		sandbox.clock.pass(2 * 3600);
		const { data } = create(sandbox, 'a').body as GenerationEntry;
		expect(sandbox.fetch(data[0].url).status).toBe(200);
	});

	it('does not remove the first generation if a repeated request fails late', () => {
		const sandbox = new VirtualSandbox({ honorsIdempotencyKeys: true });
		create(sandbox, 'a');
		sandbox.service.faults.order({ on: 'create', action: { kind: 'delay', ms: 1 } });
		const repeated = create(sandbox, 'a');
		sandbox.service.accounts.keyOf('main').state = 'revoked';
		const request = { method: 'POST', path: '', headers: {} };
		expect(sandbox.service.late(request, repeated).status).toBe(401);
		expect(sandbox.service.books.totals).toMatchObject({ created: 1, charged: 8 });
	});

	it('is known after a restart that keeps the books, whatever its length', () => {
		const folder = mkdtempSync(join(tmpdir(), 'books-'));
		const options = { honorsIdempotencyKeys: true, keepIn: join(folder, 'books.jsonl') };
		const keys = ['a', 'b'.repeat(3_000)];
		const before = new VirtualSandbox(options);
		const first = keys.map((key) => create(before, key).body as GenerationEntry);
		const after = new VirtualSandbox({ ...options, seed: 2 });
		const second = keys.map((key) => create(after, key).body as GenerationEntry);
		expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
		expect(after.service.books.totals).toMatchObject({ created: 2, charged: 16 });
		expect(after.fetch(second[0].data[0].url).status).toBe(404);
		rmSync(folder, { recursive: true });
	});
});
