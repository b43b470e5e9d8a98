import { start, VirtualSandbox } from './virtual';
import type { ErrorBody } from './virtual';

describe('a generation', () => {
	it('is returned immediately as pending, in the format of spec 2.1', () => {
		const entry = new VirtualSandbox().created();
		expect(entry).toEqual({
			id: expect.stringMatching(
				/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
			),
			status: 'pending',
			created: Math.floor(start / 1000),
			model: 'aurora-image-1',
			type: 'image',
			data: [
				{
					url: expect.stringContaining(`/media-outputs/${entry.id}.png?X-Amz-Algorithm=`),
					generation_id: entry.id,
					status: 'pending',
					model: 'aurora-image-1',
					revised_prompt: null,
				},
			],
		});
	});

	it.each(['[seconds: 0]', '[seconds: 0] [fail]'])(
		'is returned as pending, also if it ends immediately: %s (spec 3)',
		(prompt) => {
			const sandbox = new VirtualSandbox();
			const made = sandbox.created({ prompt });
			expect(made).toMatchObject({ status: 'pending', data: [{ status: 'pending' }] });
			expect(made).not.toHaveProperty('error');
			expect(sandbox.look(made.id).status).toMatch(/^(completed|failed)$/);
		},
	);

	it('goes from pending to processing to completed as time passes', () => {
		const sandbox = new VirtualSandbox();
		const { id } = sandbox.created();
		const seen = [0, 1, 1.5, 5, 3].map((seconds) => {
			sandbox.clock.pass(seconds);
			return sandbox.look(id).status;
		});
		expect(seen).toEqual(['pending', 'pending', 'processing', 'processing', 'completed']);
	});

	it('that fails states the reason and refunds the credits', () => {
		const sandbox = new VirtualSandbox();
		const { id } = sandbox.created({ prompt: 'A cat [fail: out of paint]' });
		expect(sandbox.balance()).toBe(99_992);
		sandbox.clock.pass(10);
		expect(sandbox.look(id)).toMatchObject({
			status: 'failed',
			data: [{ status: 'failed' }],
			error: { message: 'out of paint' },
		});
		expect(sandbox.balance()).toBe(100_000);
		expect(sandbox.service.books.totals).toMatchObject({ failed: 1, charged: 8, refunded: 8 });
	});

	it('takes the time given by its prompt, an order, or the options', () => {
		const sandbox = new VirtualSandbox({ timeScale: 2 });
		sandbox.service.faults.order({ on: 'create', action: { kind: 'seconds', seconds: 40 } });
		sandbox.created();
		sandbox.created({ prompt: 'A cat [seconds: 30]' });
		sandbox.created();
		const took = sandbox.service.books.generations.map(
			({ created, finishes }) => finishes - created,
		);
		expect(took).toEqual([20_000, 15_000, 5_000]);
	});

	it('can be ended by a test', () => {
		const sandbox = new VirtualSandbox();
		const [good, bad] = [sandbox.created(), sandbox.created()];
		sandbox.service.finish(good.id);
		sandbox.service.finish(bad.id, 'pulled');
		expect(sandbox.look(good.id).status).toBe('completed');
		expect(sandbox.look(bad.id)).toMatchObject({ status: 'failed', error: { message: 'pulled' } });
		expect(() => sandbox.service.finish(bad.id)).toThrow('running');
	});

	it('belongs to its account only', () => {
		const sandbox = new VirtualSandbox();
		const { id } = sandbox.created();
		expect(sandbox.look(id, 'second').id).toBe(id);
		const other = sandbox.send('GET', `/v1/generations/${id}`, undefined, 'pro');
		expect(other).toMatchObject({ status: 404 });
	});
});

describe('the concurrency limit', () => {
	it.each([
		['trial', 10],
		['main', 10],
		['pro', 15],
		['growth', 20],
		['hero', 25],
		['noPlan', 10],
	] as const)('of %s is %d (spec 8)', (key, limit) => {
		const sandbox = new VirtualSandbox();
		const statuses = Array.from({ length: limit + 1 }, () => sandbox.image({}, key).status);
		expect(statuses).toEqual([...Array<number>(limit).fill(200), 429]);
	});

	it('counts generations of every key and of other origins, and reports them', () => {
		const sandbox = new VirtualSandbox();
		sandbox.service.occupy('main', 7);
		expect(sandbox.image({}, sandbox.connectApp()).status).toBe(200);
		sandbox.created({}, 'main');
		sandbox.created({}, 'second');
		const refused = sandbox.image();
		expect(refused.status).toBe(429);
		expect((refused.body as ErrorBody).error.message).toMatch(/10 .*running.*allows 10/);
		sandbox.clock.pass(10);
		expect(sandbox.image().status).toBe(200);
	});
});

describe('models', () => {
	it('are seven for images and nine for videos, with different limits', () => {
		const sandbox = new VirtualSandbox();
		const count = (type: string): number => {
			const { body } = sandbox.send('GET', `/v1/models${type}`);
			return (body as { data: unknown[] }).data.length;
		};
		expect(['', '?type=all', '?type=image', '?type=video'].map(count)).toEqual([16, 16, 7, 9]);
		expect(sandbox.send('GET', '/v1/models?type=image').body).toMatchObject({
			object: 'list',
			data: expect.arrayContaining([
				{
					id: 'aurora-image-1',
					object: 'model',
					type: 'image',
					name: 'Aurora Image 1',
					provider: 'Northlight',
					description: expect.any(String),
					max_resolution: '2048x2048',
					avg_speed_seconds: 8,
				},
			]),
		});
		expect(sandbox.send('GET', '/v1/models?type=audio').status).toBe(400);
	});
});

describe('the books', () => {
	it('count the cost of a prompt, and forget it on reset', () => {
		const sandbox = new VirtualSandbox();
		const first = sandbox.created({ prompt: 'twice' }).id;
		sandbox.created({ prompt: 'twice' });
		sandbox.created({ prompt: 'twice [fail]' });
		expect(sandbox.service.books.liveChargesFor('twice')).toBe(2);
		expect(sandbox.service.books.find(first)).toMatchObject({
			account: 'main',
			key: 'main',
			request: { model: 'aurora-image-1', prompt: 'twice' },
		});
		sandbox.service.reset();
		expect(sandbox.service.books.generations).toEqual([]);
		expect(sandbox.balance()).toBe(100_000);
		expect(sandbox.created({ prompt: 'twice' }).id).toBe(first);
	});

	it('record every request, but no key', () => {
		const sandbox = new VirtualSandbox();
		const { id } = sandbox.created();
		sandbox.look(id);
		sandbox.service.faults.order({ on: 'credits', action: { kind: 'hang' } });
		sandbox.send('GET', '/v1/credits/balance', undefined, null);
		const { requests } = sandbox.service;
		expect(requests.all).toMatchObject([
			{ on: 'create', status: 200, answered: true, generationId: id, at: start },
			{ on: 'status', status: 200, answered: true, generationId: id },
			{ on: 'credits', status: null, answered: false, keyFingerprint: null, fault: 'hang' },
		]);
		expect(requests.all[0].keyFingerprint).toMatch(/^[0-9a-f]{12}$/);
		expect(JSON.stringify(requests.all)).not.toContain('svc_live_');
	});
});
