import { ExecutionJournal, type StoredOrder } from '../../client/orders/execution-journal';

const unmarked = { request: '', recipe: '', key: '', keyRecipe: '' };

/** What earlier tries of a step have stored with the execution: one order for each item. */
export function storedOrders(...orders: Array<Partial<StoredOrder>>): ExecutionJournal {
	const items = orders.map((order, index) => [index, [{ ...unmarked, ...order }]]);
	return new ExecutionJournal({ 0: Object.fromEntries(items) as Record<string, StoredOrder[]> }, 0);
}
