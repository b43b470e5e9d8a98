import { Journal, type StoredOrder } from '../../client/orders/journal';

const unmarked = { request: '', recipe: '', key: '', keyRecipe: '' };

/** Returns the journal that earlier attempts of a step stored with the execution: one order for each item. */
export function storedOrders(...orders: Array<Partial<StoredOrder>>): Journal {
	const items = orders.map((order, index) => [index, [{ ...unmarked, ...order }]]);
	return new Journal({ 0: Object.fromEntries(items) as Record<string, StoredOrder[]> }, 0);
}
