import { isErrorName, type ErrorName } from './basics/errors';
import { isObject } from './basics/fields';
import { seededRandom } from './basics/random';

const targets = ['create', 'status', 'models', 'credits', 'download', 'probe', 'any'] as const;

/**
 * Which request a fault is for. `credits` is both the balance and the summary; `probe` asks the storage for the first
 * byte alone (`Range: bytes=0-0`), `download` for anything else of it.
 */
export type FaultTarget = (typeof targets)[number];

/** What happens to the request. Sizes in bytes, times in milliseconds unless named otherwise. */
export type FaultAction =
	/** A row of spec 7 in its exact form, without doing the work. */
	| { kind: 'error'; code: ErrorName; message?: string; param?: string }
	/**
	 * Any answer. A text `body` goes out as it is (HTML unless `contentType` says otherwise), an
	 * absent one empty, anything else as JSON. `work: true` does (and charges) the work first;
	 * `endless: true` sends the body again and again, until the client leaves.
	 */
	| {
			kind: 'respond';
			status: number;
			body?: unknown;
			contentType?: string;
			headers?: Record<string, string>;
			work?: boolean;
			endless?: boolean;
	  }
	/** Does the work (charges), then resets the connection without an answer. */
	| { kind: 'loseAnswer' }
	/** Resets the connection before any work. */
	| { kind: 'reset' }
	/** Never answers; `work: true` does the work all the same. */
	| { kind: 'hang'; work?: boolean }
	/** Does the work at once and answers late. */
	| { kind: 'delay'; ms: number }
	/** Does the work at once; the body comes so many bytes (1) at a time. */
	| { kind: 'trickle'; everyMs: number; bytes?: number }
	| { kind: 'redirect'; location: string; status?: 301 | 302 | 303 | 307 | 308 }
	/** Create only: the generation will fail. */
	| { kind: 'fail'; reason?: string; asText?: boolean }
	/** Create only: the generation takes so many seconds (before the time scale). */
	| { kind: 'seconds'; seconds: number }
	/** Create and status: the output URL in the answer leads to a closed port. */
	| { kind: 'unreachable' }
	/** Storage: while the file is missing, its URL is noted, and answered as missing for so long. */
	| { kind: 'remember404'; seconds: number }
	/** Storage: the file is there so many seconds before its generation is done. */
	| { kind: 'early'; seconds: number }
	/** Storage: the whole file, whatever range was asked for. */
	| { kind: 'ignoreRange' }
	/** Downloads: encoded with gzip, whether the client takes that or not. */
	| { kind: 'gzip' }
	/** Downloads: the connection breaks after so many bytes; `chunked` sends no Content-Length. */
	| { kind: 'truncate'; afterBytes: number; chunked?: boolean }
	/** Downloads: nothing more comes after so many bytes, and the connection stays open. */
	| { kind: 'stall'; afterBytes: number }
	/** Downloads: refused as an expired URL, now. */
	| { kind: 'expire' }
	/** Downloads: the file under another Content-Type. */
	| { kind: 'contentType'; value: string }
	/** Downloads: the whole file, chunked. */
	| { kind: 'noContentLength' }
	/** Downloads: Content-Length off by so many bytes; the connection ends after the file. */
	| { kind: 'wrongLength'; by: number };

export type DownloadAction = Extract<
	FaultAction,
	{
		kind:
			| 'truncate'
			| 'stall'
			| 'contentType'
			| 'noContentLength'
			| 'wrongLength'
			| 'gzip'
			| 'ignoreRange'
			| 'trickle';
	}
>;

/** A rule in the queue. */
export interface FaultOrder {
	on: FaultTarget;
	/** All that is given must fit. `promptIncludes` also fits status, download and probe requests. */
	match?: { promptIncludes?: string; id?: string; key?: string };
	/** So many fitting requests pass untouched first. Default 0. */
	skip?: number;
	/** How many fitting requests are struck. Default 1. */
	times?: number | 'always';
	/** The random share of the matching requests that fail; the next orders get the others. Default 1: all. */
	share?: number;
	action: FaultAction;
}

/** What a rule is held against. */
export interface FaultSubject {
	on: FaultTarget;
	prompt?: string;
	id?: string;
	/** The key's name, or its text where it is unknown. */
	key?: string;
}

/** A rule at work on a request. */
export interface TakenFault {
	readonly action: FaultAction;
	/** Undoes the taking, for a request that the fault could not bear on. */
	giveBack(): void;
}

interface QueuedFault {
	readonly order: FaultOrder;
	skip: number;
	times: number;
}

const kinds: Readonly<Record<FaultAction['kind'], true>> = {
	error: true,
	respond: true,
	loseAnswer: true,
	reset: true,
	hang: true,
	delay: true,
	trickle: true,
	redirect: true,
	fail: true,
	seconds: true,
	unreachable: true,
	remember404: true,
	early: true,
	ignoreRange: true,
	gzip: true,
	truncate: true,
	stall: true,
	expire: true,
	contentType: true,
	noContentLength: true,
	wrongLength: true,
};

/** Whether something from outside has the outline of an order: its target, kind, code and share. */
export function isFaultOrder(value: unknown): value is FaultOrder {
	if (!isObject(value)) return false;
	const { on, action, share = 1 } = value as Partial<FaultOrder>;
	if (typeof share !== 'number' || !(share >= 0 && share <= 1)) return false;
	if (!targets.some((target) => target === on)) return false;
	if (!isObject(action) || !Object.hasOwn(kinds, action.kind)) return false;
	return action.kind !== 'error' || isErrorName(action.code);
}

function fits(order: FaultOrder, subject: FaultSubject): boolean {
	if (order.on !== 'any' && order.on !== subject.on) return false;
	const { promptIncludes, id, key } = order.match ?? {};
	if (promptIncludes !== undefined && !subject.prompt?.includes(promptIncludes)) return false;
	if (id !== undefined && id !== subject.id) return false;
	return key === undefined || key === subject.key;
}

/** The faults that tests have ordered. The first rule that fits a request takes it. */
export class FaultQueue {
	private queue: QueuedFault[] = [];

	/** Which requests a share falls on: the same ones after each clearing. */
	private random = seededRandom(1);

	/** Adds rules at the end. Throws for an order that nothing could come of. */
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

	/** The orders that still have something to do. */
	get pending(): FaultOrder[] {
		return this.queue.map(({ order }) => order);
	}

	/** Withdraws every order. */
	clear(): void {
		this.queue = [];
		this.random = seededRandom(1);
	}
}
