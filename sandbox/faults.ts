import { seededRandom } from './basics/random';
import { isFaultOrder } from './fault-orders';
import type { FaultAction, FaultOrder, FaultTarget } from './fault-types';

export type { DownloadAction, FaultAction, FaultOrder, FaultTarget } from './fault-types';

/** The request that rules are matched against. */
export interface FaultSubject {
	on: FaultTarget;
	prompt?: string;
	id?: string;
}

/** A rule that was applied to a request. */
interface TakenFault {
	readonly action: FaultAction;
	/** Returns the rule to the queue if the fault could not take effect on the request. */
	giveBack(): void;
}

interface QueuedFault {
	readonly order: FaultOrder;
	skip: number;
	times: number;
}

function fits(order: FaultOrder, subject: FaultSubject): boolean {
	if (order.on !== 'any' && order.on !== subject.on) return false;
	const { promptIncludes, id } = order.match ?? {};
	if (promptIncludes !== undefined && !subject.prompt?.includes(promptIncludes)) return false;
	return id === undefined || id === subject.id;
}

/** Returns true for a fault of the generation itself, and not of the response. */
export function bearsOnGeneration({ kind }: FaultAction): boolean {
	return ['fail', 'end', 'seconds'].includes(kind);
}

/** The faults that tests have ordered. The first matching rule is applied to a request. */
export class FaultQueue {
	private queue: QueuedFault[] = [];

	/** Selects the requests for a share. The sequence starts over after each clear. */
	private random = seededRandom(1);

	/** Adds rules at the end. Throws if an order is invalid. */
	order(...orders: FaultOrder[]): void {
		for (const order of orders) {
			if (!isFaultOrder(order)) throw new Error('Not a fault order: see sandbox/README.md.');
			const times = order.times === 'always' ? Infinity : (order.times ?? 1);
			this.queue.push({ order, skip: order.skip ?? 0, times });
		}
	}

	/** Returns the first rule that applies to a request. A rule that still skips requests is passed over. */
	take(subject: FaultSubject): TakenFault | null {
		for (const queued of this.queue) {
			if (!fits(queued.order, subject)) continue;
			const { share = 1 } = queued.order;
			if (share < 1 && this.random() >= share) continue;
			if (queued.skip > 0) {
				queued.skip -= 1;
				continue;
			}
			queued.times -= 1;
			if (queued.times <= 0) this.queue = this.queue.filter((each) => each !== queued);
			return { action: queued.order.action, giveBack: () => this.giveBack(queued) };
		}
		return null;
	}

	private giveBack(queued: QueuedFault): void {
		queued.times += 1;
		if (!this.queue.includes(queued)) this.queue.unshift(queued);
	}

	/** The orders that can still apply to requests. */
	get pending(): FaultOrder[] {
		return this.queue.map(({ order }) => order);
	}

	/** Removes every order. */
	clear(): void {
		this.queue = [];
		this.random = seededRandom(1);
	}
}
