import { readGeneration, type Generation } from '../../../client/api/generation';
import { isOpen, type Entry } from '../../../client/paying/book';
import { Ledger } from '../../../client/paying/ledger';
import { digestOf } from '../../../client/paying/order-name';
import { wireGeneration } from '../../support/answers';

const asked = { type: 'image', body: { model: 'm', prompt: 'A cat' } } as const;
const request = digestOf(asked);

function generation(id: string, status: string): Generation {
	const read = readGeneration(wireGeneration({ id, status }), 0);
	if (read === null) throw new Error('Not read');
	return read;
}

/** What a job is known again by: the recipe of its request, and its idempotency key as it came out and as it is written. */
function item(itemIndex: number, made = '', idempotencyKey: string | null = null, written = '') {
	return { itemIndex, recipe: () => ({ request: made, idempotencyKey: written }), idempotencyKey };
}

describe('the ledger', () => {
	it('has one key for the same request of the same item of the same run', () => {
		const key = new Ledger({}, 0).key({ itemIndex: 3 }, request);
		const same = JSON.parse(JSON.stringify(asked)) as typeof asked;
		expect(new Ledger({}, 0).key({ itemIndex: 3 }, digestOf(same))).toBe(key);
	});

	it.each([
		['another item', new Ledger({}, 0).key({ itemIndex: 4 }, request)],
		['another run, as of a loop', new Ledger({}, 1).key({ itemIndex: 3 }, request)],
		[
			'a changed prompt',
			new Ledger({}, 0).key({ itemIndex: 3 }, digestOf({ ...asked, body: { prompt: 'A dog' } })),
		],
		[
			'another kind of output',
			new Ledger({}, 0).key({ itemIndex: 3 }, digestOf({ ...asked, type: 'video' })),
		],
	])('has another key for %s', (_, other) => {
		expect(other).not.toBe(new Ledger({}, 0).key({ itemIndex: 3 }, request));
	});

	it('never holds the prompt: it is kept with the execution', () => {
		expect(new Ledger({}, 0).key(item(0, 'A cat', 'A cat', 'A cat'), request)).not.toContain('cat');
	});

	describe('of an earlier try', () => {
		const other = digestOf({ ...asked, body: { model: 'm', prompt: 'A cat', seed: 7 } });
		const kept: Record<string, Entry> = {};
		const made = new Ledger(kept, 0).key(item(3, 'recipe'), request);
		const later = () => new Ledger(kept, 0);
		beforeEach(() => {
			for (const key of Object.keys(kept)) delete kept[key];
			kept[made] = { id: 'x', status: 'pending' };
		});

		it('knows a request again that came out differently of the same recipe', () => {
			expect(later().key(item(3, 'recipe'), other)).toBe(made);
			kept[made] = {};
			expect(later().key(item(3, 'recipe'), other)).toBe(made);
		});

		it('knows a request again that another recipe, or an unknown one, came to', () => {
			expect(later().key(item(3, 'another recipe'), request)).toBe(made);
			expect(later().key({ itemIndex: 3 }, request)).toBe(made);
		});

		it('has another key where both are others, for another item and another run', () => {
			expect(later().key(item(3, 'another recipe'), other)).not.toBe(made);
			expect(later().key({ itemIndex: 3 }, other)).not.toBe(made);
			expect(later().key(item(4, 'recipe'), other)).not.toBe(made);
			expect(new Ledger(kept, 1).key(item(3, 'recipe'), other)).not.toBe(made);
		});

		it('is not paid again for an idempotency key that was given since, or taken away', () => {
			expect(later().key(item(3, '', 'a', 'a'), request)).toBe(made);
			const named = new Ledger(kept, 0).key(item(4, '', 'a', 'a'), request);
			kept[named] = { id: 'y', status: 'pending' };
			expect(later().key(item(4), request)).toBe(named);
		});

		it('is another order under an idempotency key that was changed since, and written otherwise', () => {
			const named = new Ledger(kept, 0).key(item(4, 'recipe', 'a', '={{ $json.id }}'), request);
			kept[named] = { id: 'y', status: 'pending' };
			expect(later().key(item(4, 'recipe', 'b', '={{ $now }}'), request)).not.toBe(named);
			expect(later().key(item(4, 'recipe', 'b', '={{ $json.id }}'), request)).toBe(named);
			expect(later().key(item(4, 'recipe', 'a', '={{ $now }}'), request)).toBe(named);
			expect(later().key({ itemIndex: 4, idempotencyKey: 'b' }, request)).not.toBe(named);
		});

		it('has another key where that generation has failed, or was never sent', () => {
			kept[made] = { id: 'x', status: 'failed' };
			expect(later().key(item(3, 'recipe'), other)).not.toBe(made);
			kept[made] = {};
			const ledger = later();
			ledger.withdraw(made);
			expect(ledger.key(item(3, 'recipe'), other)).not.toBe(made);
		});
	});

	it('knows nothing at first', () => {
		const ledger = new Ledger({}, 0);
		expect([ledger.find('key'), isOpen(ledger.find('key'))]).toEqual([undefined, false]);
	});

	it('knows all that its run has paid for, and nothing of other runs', () => {
		const kept: Record<string, Entry> = {
			'0:0:a': { id: 'x', status: 'completed' },
			'0:0:b': { id: 'y' },
			'0:1:c': { id: 'z', status: 'failed' },
			'0:2:d': {},
			'0:3:a': { id: 'x', status: 'completed' },
			'1:0:a': { id: 'other', status: 'completed' },
			'10:0:a': { id: 'other too', status: 'completed' },
		};
		expect(new Ledger(kept, 0).paid()).toEqual([{ id: 'x', status: 'completed' }, { id: 'y' }]);
	});

	it('writes each step at once into the object that n8n keeps', () => {
		const kept: Record<string, Entry> = {};
		const ledger = new Ledger(kept, 0);
		ledger.intend('key', 'name');
		expect([kept, isOpen(ledger.find('key'))]).toEqual([{ key: { sent: 1, name: 'name' } }, true]);
		ledger.record('key', generation('x', 'pending'));
		expect([kept, isOpen(ledger.find('key'))]).toEqual([
			{ key: { id: 'x', status: 'pending' } },
			false,
		]);
		ledger.record('key', generation('x', 'completed'));
		expect(kept).toEqual({ key: { id: 'x', status: 'completed' } });
		ledger.withdraw('key');
		expect([kept, isOpen(ledger.find('key'))]).toEqual([{}, false]);
	});

	it('counts the requests that nobody knows the outcome of: a refusal takes back its own only', () => {
		const kept: Record<string, Entry> = {};
		const ledger = new Ledger(kept, 0);
		ledger.intend('key', 'name');
		ledger.intend('key', 'name');
		expect(kept).toEqual({ key: { sent: 2, name: 'name' } });
		ledger.withdraw('key');
		expect(kept).toEqual({ key: { sent: 1, name: 'name' } });
		ledger.withdraw('key');
		expect(kept).toEqual({});
	});

	it('counts what another execution has sent where it knows nothing of its own', () => {
		const kept: Record<string, Entry> = {};
		const ledger = new Ledger(kept, 0);
		ledger.intend('key', 'name', 1);
		ledger.intend('key', 'name', 1);
		expect(kept).toEqual({ key: { sent: 3, name: 'name' } });
	});

	it('knows what an item has paid for, also while its request is not built', () => {
		const ledger = new Ledger({}, 0);
		const [cat, dog] = ['cat', 'dog'].map((prompt) =>
			ledger.key({ itemIndex: 1 }, digestOf({ type: 'image', body: { prompt } })),
		);
		expect(ledger.paidBy({ itemIndex: 1 }, null)).toBeNull();
		ledger.record(cat, generation('x', 'processing'));
		ledger.record(dog, generation('y', 'pending'));
		expect(ledger.paidBy({ itemIndex: 1 }, cat)).toEqual({ id: 'x', status: 'processing' });
		expect(ledger.paidBy({ itemIndex: 1 }, null)).toEqual({ id: 'y', status: 'pending' });
		ledger.record(dog, generation('y', 'failed'));
		expect(ledger.paidBy({ itemIndex: 1 }, dog)).toBeNull();
		expect(ledger.paidBy({ itemIndex: 1 }, null)).toEqual({ id: 'x', status: 'processing' });
	});

	it('never takes what another item or run has paid for', () => {
		const kept: Record<string, Entry> = {};
		const ledger = new Ledger(kept, 0);
		ledger.record(ledger.key({ itemIndex: 11 }, request), generation('x', 'pending'));
		for (const other of [0, 1, 111]) expect(ledger.paidBy({ itemIndex: other }, null)).toBeNull();
		expect(new Ledger(kept, 1).paidBy({ itemIndex: 11 }, null)).toBeNull();
		ledger.intend('0:2:open', 'name');
		expect(ledger.paidBy({ itemIndex: 2 }, null)).toBeNull();
	});

	it('survives being stored: another one over the same object knows what it knew', () => {
		const kept: Record<string, Entry> = {};
		const before = new Ledger(kept, 0);
		before.intend('open', 'name');
		before.record('made', generation('x', 'processing'));
		const after = new Ledger(JSON.parse(JSON.stringify(kept)) as typeof kept, 0);
		expect(isOpen(after.find('open'))).toBe(true);
		expect(after.find('made')).toEqual({ id: 'x', status: 'processing' });
	});
});
