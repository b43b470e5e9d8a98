import { ExecutionJournal, type StoredOrder } from '../../client/orders/execution-journal';

const unmarked = { request: '', recipe: '', key: '', keyRecipe: '' };

/** Returns the journal that earlier attempts of a step stored with the execution: one order for each item. */
export function storedOrders(...orders: Array<Partial<StoredOrder>>): ExecutionJournal {
	const items = orders.map((order, index) => [index, [{ ...unmarked, ...order }]]);
	return new ExecutionJournal({ 0: Object.fromEntries(items) as Record<string, StoredOrder[]> }, 0);
}
