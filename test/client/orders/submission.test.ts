import { CancelledError } from '../../../client/api/errors';
import type { Generation } from '../../../client/api/generation';
import { ServiceClient, type CreateRequest } from '../../../client/api/client';
import { noSlot } from '../../support/answers';
import { Desk } from '../../support/desk';
import { refused, unreachable } from '../../support/fake-service';
import { creating } from '../../support/step';

const nothing = { state: 'none' };
const sent = { state: 'sent', count: 1 };

/** A bug in our code that strikes after the request was sent. */
class BrokenService extends ServiceClient {
	override async create(request: CreateRequest, name: string): Promise<Generation> {
		await super.create(request, name);
		throw new TypeError('A mistake of ours');
	}
}

describe('a creating request', () => {
	it('is stored before it is sent, and with its id right after the response', async () => {
		const desk = new Desk();
		let whileUnderWay: unknown = null;
		const cat = creating('cat');
		const order = desk.journal.order(cat, await cat.request());
		desk.fake.order('cat', (make) => {
			whileUnderWay = desk.journal.known(order);
			return make();
		});
		const generation = await desk.obtain('cat');
		expect(whileUnderWay).toEqual(sent);
		expect(generation.item.id).toBe('generation-1');
		expect(desk.journal.known(order)).toMatchObject({ state: 'made', id: 'generation-1' });
		expect(desk.submission.stats).toMatchObject({ made: 1, reused: 0 });
	});

	it.each([
		['a refusal', refused(422, 'unsupported_parameter')],
		['a lack of credits', refused(402, 'insufficient_credits')],
		['a redirect', () => ({ status: 301, body: '' })],
	])('that ended in %s leaves nothing stored', async (_, script) => {
		const desk = new Desk();
		desk.fake.order('cat', script);
		expect((await desk.refusalOf('cat')).charge).toBe('none');
		expect(await desk.entry('cat')).toEqual(nothing);
	});

	it('that never reached the service leaves nothing stored', async () => {
		const desk = new Desk();
		desk.fake.order('cat', ...Array.from({ length: 7 }, () => unreachable));
		expect((await desk.refusalOf('cat')).code).toBe('connection_failed');
		expect(await desk.entry('cat')).toEqual(nothing);
	});

	it('is sent again if it was certainly not charged, and creates one generation', async () => {
		const desk = new Desk();
		desk.fake.order('cat', unreachable, refused(503, 'service_unavailable'));
		await desk.obtain('cat');
		expect([desk.fake.creating.length, desk.fake.made.length]).toEqual([3, 1]);
	});

	it('has all its retries again after it waited for a slot', async () => {
		const desk = new Desk();
		const down = Array.from({ length: 5 }, () => refused(503, 'service_unavailable'));
		desk.fake.order('cat', ...down, () => noSlot(10, 10), ...down);
		expect((await desk.obtain('cat')).item.id).toBe('generation-1');
		expect(desk.fake.creating).toHaveLength(12);
	});

	it('is neither sent nor stored once the step has ended', async () => {
		const desk = new Desk();
		desk.halt.abort();
		await expect(desk.obtain('cat')).rejects.toBeInstanceOf(CancelledError);
		expect([desk.fake.seen.length, await desk.entry('cat')]).toEqual([0, nothing]);
	});

	it('that is stopped before a retry leaves nothing stored', async () => {
		const desk = new Desk();
		desk.fake.order('cat', unreachable);
		desk.time.at(desk.time.now() + 500, () => desk.halt.abort());
		await expect(desk.obtain('cat')).rejects.toBeInstanceOf(CancelledError);
		expect([desk.fake.creating.length, await desk.entry('cat')]).toEqual([1, nothing]);
	});

	it('stays unresolved after a bug in our code: only a certain "not charged" removes it', async () => {
		const desk = new Desk(BrokenService);
		const error = await desk.refusalOf('cat');
		expect(error).toMatchObject({ code: 'uncertain_charge', charge: 'unknown' });
		expect(error.description).toContain('A mistake of ours');
		expect(await desk.entry('cat')).toEqual(sent);
	});
});

describe('a rejection that every further request would get', () => {
	it.each([
		[401, 'authentication_error'],
		[402, 'insufficient_credits'],
		[403, 'insufficient_credits'],
		[403, 'forbidden'],
		[403, 'CONNECTION_PAUSED'],
		[429, 'CONNECTION_LIMIT_REACHED'],
	])('ends all submissions: %i %s', async (status, code) => {
		const desk = new Desk();
		desk.fake.order('cat', refused(status, code));
		expect((await desk.refusalOf('cat')).code).toBe(code);
		const error = await desk.refusalOf('dog');
		expect(error).toMatchObject({ code, status, charge: 'none' });
		expect(error.message).toMatch(/^Skipped because item 1 failed: /);
		expect(desk.fake.creating).toHaveLength(1);
		expect(await desk.entry('dog')).toEqual(nothing);
	});

	it.each([
		[400, 'invalid_parameter'],
		[404, 'model_not_found'],
		[413, 'payload_too_large'],
		[422, 'unsupported_parameter'],
	])('is not caused by one item alone: %i %s', async (status, code) => {
		const desk = new Desk();
		desk.fake.order('cat', refused(status, code));
		await desk.refusalOf('cat');
		expect((await desk.obtain('dog')).item.id).toBe('generation-1');
	});
});

describe('a request that finds no slot', () => {
	it('waits for one, regardless of its retry rules', async () => {
		const desk = new Desk();
		desk.fake.slots = 1;
		await desk.obtain('cat');
		expect((await desk.obtain('dog')).item.id).toBe('generation-2');
		expect(desk.fake.peak).toBe(1);
	});

	it('leaves nothing stored if it gives up', async () => {
		const desk = new Desk();
		desk.fake.slots = 0;
		const error = await desk.refusalOf('dog', { timeoutMs: 5000 });
		expect(error).toMatchObject({ code: 'CONCURRENCY_LIMIT_REACHED', charge: 'none' });
		expect(await desk.entry('dog')).toEqual(nothing);
	});
});
