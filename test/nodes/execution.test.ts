import type { IDataObject } from 'n8n-workflow';

import { orderOf } from '../../client/orders/order';
import { journalOf } from '../../nodes/shared/execution';
import { contextOf } from '../support/context';
import { creating } from '../support/step';

/** The order of an item, in a journal that is kept with the execution. */
function orderIn(given: Parameters<typeof contextOf>[0]) {
	const journal = journalOf(contextOf(given).step);
	const order = orderOf(creating('A cat'), journal.runIndex);
	return {
		state: () => journal.known(order).state,
		claim: async () => (await journal.claim(order))?.header,
	};
}

const throughDatabase = (kept: IDataObject) => JSON.parse(JSON.stringify(kept)) as IDataObject;

describe('what a step stores with its execution', () => {
	it('comes back from the database', async () => {
		const kept: IDataObject = {};
		await orderIn({ kept }).claim();
		expect(orderIn({ kept: throughDatabase(kept) }).state()).toBe('sent');
	});

	it('gives an order the same header in every retry, and a different one in another execution', async () => {
		const kept: IDataObject = {};
		const first = await orderIn({ kept }).claim();
		expect(await orderIn({ kept: throughDatabase(kept) }).claim()).toBe(first);
		expect(await orderIn({ kept: {} }).claim()).not.toBe(first);
	});

	it('is separate for each run of a loop', async () => {
		const kept: IDataObject = {};
		await orderIn({ kept, runIndex: 0 }).claim();
		expect(orderIn({ kept, runIndex: 1 }).state()).toBe('none');
		expect(orderIn({ kept }).state()).toBe('sent');
	});
});
