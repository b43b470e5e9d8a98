import { Journal, type Order, type StoredOrders } from '../../../client/orders/journal';
import { readGeneration, type Generation } from '../../../client/api/generation';
import type { CreateRequest } from '../../../client/api/client';
import { wireGeneration } from '../../support/answers';
import { creating } from '../../support/step';

function generation(id: string, status: string): Generation {
	return readGeneration(wireGeneration({ id, status }), 0) as Generation;
}

const cat: CreateRequest = { type: 'image', body: { model: 'm', prompt: 'A cat' } };
const seeded: CreateRequest = { type: 'image', body: { ...cat.body, seed: 7 } };

interface Asked {
	item?: number;
	request?: CreateRequest;
	/** The request and the idempotency key, before evaluation. */
	recipe?: string;
	key?: string | null;
	expression?: string;
}

/** One run of a step, with the orders that earlier attempts stored with the execution. */
function opened(kept: StoredOrders = {}, run = 0) {
	const journal = new Journal(kept, run);
	const order = ({ item = 3, request = cat, recipe = '', key = null, expression = '' }: Asked) => {
		const unevaluated = () => ({ request: recipe, idempotencyKey: expression });
		const job = creating('', item, { recipe: unevaluated, idempotencyKey: key });
		return journal.order(job, request);
	};
	const made = (asked: Asked, id = 'x', status = 'pending') => {
		const one = order(asked);
		journal.commit(one, generation(id, status));
		return one;
	};
	return { journal, order, made, stateOf: (asked: Asked) => journal.known(order(asked)).state };
}

/** Returns what a later attempt finds for an order of an earlier one. */
function afterwards(made: Asked, asked: Asked, run = 0): string {
	const kept: StoredOrders = {};
	opened(kept).made(made);
	return opened(JSON.parse(JSON.stringify(kept)) as StoredOrders, run).stateOf(asked);
}

describe('a later attempt of a step', () => {
	it.each<[what: string, made: Asked, asked: Asked]>([
		['the same request', {}, { request: JSON.parse(JSON.stringify(cat)) as CreateRequest }],
		[
			'the same parameters, which evaluate differently',
			{ recipe: 'r' },
			{ recipe: 'r', request: seeded },
		],
		['other parameters, which evaluate to the same request', { recipe: 'r' }, { recipe: 'other' }],
		['an idempotency key that was added', {}, { key: 'a', expression: 'a' }],
		['an idempotency key that was removed', { key: 'a', expression: 'a' }, {}],
		[
			'another value of the same key expression',
			{ key: 'a', expression: '=k' },
			{ key: 'b', expression: '=k' },
		],
		[
			'another expression with the same key',
			{ key: 'a', expression: '=k' },
			{ key: 'a', expression: '=m' },
		],
	])('reuses the generation for %s', (_, made, asked) => {
		expect(afterwards(made, asked)).toBe('made');
	});

	it.each<[what: string, made: Asked, asked: Asked, run: number]>([
		['another item', {}, { item: 4 }, 0],
		['another run of a loop', {}, {}, 1],
		['a changed prompt', {}, { request: { ...cat, body: { prompt: 'A dog' } } }, 0],
		['another type of output', {}, { request: { ...cat, type: 'video' } }, 0],
		[
			'a changed request and changed parameters',
			{ recipe: 'r' },
			{ recipe: 'other', request: seeded },
			0,
		],
		[
			'a changed key and key expression',
			{ key: 'a', expression: '=k' },
			{ key: 'b', expression: '=m' },
			0,
		],
	])('makes a new generation for %s', (_, made, asked, run) => {
		expect(afterwards(made, asked, run)).toBe('none');
	});

	it('creates a failed generation again', () => {
		const { made, stateOf } = opened();
		made({ recipe: 'r' }, 'x', 'failed');
		expect(stateOf({ recipe: 'r' })).toBe('none');
	});
});

describe('what is stored with the execution', () => {
	it('never contains the prompt or the key', () => {
		const kept: StoredOrders = {};
		opened(kept).made({ recipe: 'A cat', key: 'A cat', expression: 'A cat' });
		expect(JSON.stringify(kept)).not.toMatch(/cat/i);
	});

	it('counts requests without a known result, and a rejection decrements the count', async () => {
		const { journal, order } = opened();
		const one = order({});
		const header = await journal.reserve(one);
		expect(await journal.reserve(one)).toBe(header);
		expect(journal.known(one)).toEqual({ state: 'sent', count: 2 });
		journal.release(one);
		expect(journal.known(one)).toEqual({ state: 'sent', count: 1 });
		journal.release(one);
		expect(journal.known(one)).toEqual({ state: 'none' });
	});

	it('includes the last status of a generation', () => {
		const { journal, made } = opened();
		const one = made({});
		journal.commit(one, generation('x', 'completed'));
		expect(journal.known(one)).toEqual({ state: 'made', id: 'x', status: 'completed' });
	});
});

describe('the charged generation of an item', () => {
	it('is its newest generation that has not failed, even if its request was not built', () => {
		const { journal, made } = opened();
		const dog: CreateRequest = { type: 'image', body: { prompt: 'A dog' } };
		const paidBy = (order: Order | null, itemIndex = 3) => journal.paidBy({ itemIndex }, order)?.id;
		expect(paidBy(null)).toBeUndefined();
		const first = made({}, 'x', 'processing');
		const second = made({ request: dog }, 'y');
		expect([paidBy(first), paidBy(null), paidBy(null, 4)]).toEqual(['x', 'y', undefined]);
		journal.commit(second, generation('y', 'failed'));
		expect([paidBy(second), paidBy(null)]).toEqual([undefined, 'x']);
	});

	it('is listed once for all items of the run', () => {
		const kept: StoredOrders = {};
		const { journal, made } = opened(kept);
		made({ item: 0 }, 'x', 'completed');
		made({ item: 1 }, 'z', 'failed');
		made({ item: 2 }, 'x', 'completed');
		opened(kept, 1).made({ item: 0 }, 'other');
		expect(journal.paid()).toEqual([{ id: 'x', status: 'completed' }]);
	});
});
