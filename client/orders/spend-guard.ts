import type { ServiceClient } from '../api/client';
import { GenerationError } from '../api/errors';
import { raceAbort, toResult } from '../async';
import { NOTHING_SPENT, type Spent } from '../jobs/memory';
import type { StepGate } from './slot-pool';
import type { Clock } from '../ports';
import { amount } from '../text';

/** What a step may spend. `null` and missing values set no limit. */
export interface SpendLimits {
	maxNewGenerations?: number | null;
	maxCredits?: number | null;
	/** The balance below which the step creates nothing more, in credits. */
	minimumBalance?: number | null;
	/** What earlier attempts of the step, or its runs before a sleep, have spent. Default: nothing. */
	spentBefore?: Spent;
}

/** True if a limit is in credits. */
export function limitsCredits({ maxCredits, minimumBalance }: SpendLimits): boolean {
	return (maxCredits ?? minimumBalance ?? null) !== null;
}

/** Other work on the account changes the balance, so a balance that was read is used for at most this long. */
const BALANCE_INTERVAL_MS = 1_000;
/** A generation whose price is not known yet is assumed to cost at most this many times the highest price seen. */
const PRICE_RANGE = 50;

/**
 * The spending limits of a step. `admit` is called before an item's first request, and `settle` after its last one. With a
 * limit in credits, a price is measured as the drop of the balance, so the step's first request is sent alone. Once a limit
 * is reached, or the balance cannot be read, the step's gate is closed: nothing more is created.
 */
export class SpendGuard {
	/** The balance before the first creating request; `null` if it was not read. */
	balanceBefore: number | null = null;
	/** Includes `spentBefore`. `spent.requests` also counts the admitted items that are not settled. */
	readonly spent: Spent;
	/** Number of items that were admitted and not settled. */
	private admitted = 0;
	/** Number of requests that `begin` has begun and `end` has not ended. */
	private inFlight = 0;
	/** Number of requests whose price is perhaps not yet deducted from the last balance that was read. */
	private unread = 0;
	/** Number of requests since `base` was read. `base` is the last balance that was read while no request was in flight. */
	private sinceBase = 0;
	private base = 0;
	private balance = 0;
	private readAt: number | null = null;
	private reading: Promise<void> | null = null;
	/** Callbacks that resume items that wait for the result of another item. */
	private readonly waiting: Array<() => void> = [];
	private readonly isMeasuring: boolean;

	constructor(
		private readonly limits: SpendLimits,
		/** `balance` reads the balance that the step's hint shows. It returns `null` if that fails, and never throws. */
		private readonly ports: {
			clock: Clock;
			service: ServiceClient;
			balance?: () => Promise<number | null>;
		},
	) {
		this.spent = { ...(limits.spentBefore ?? NOTHING_SPENT) };
		this.isMeasuring = limitsCredits(limits);
	}

	/**
	 * Waits until an item may send creating requests. The item then has a place in the limit, also for its retries, until the
	 * caller calls `settle`. Throws CancelledError, or the error with which the gate was closed.
	 */
	async admit(gate: StepGate): Promise<void> {
		const most = this.limits.maxNewGenerations ?? Infinity;
		gate.requireOpen();
		while (this.spent.requests >= most) {
			if (this.admitted === 0) throw gate.close(limitReached(most));
			await this.result(gate);
		}
		this.spent.requests++;
		this.admitted++;
	}

	/** Ends the admission of an item that is not sent again. `mayBeCharged`: false if the item was certainly not charged. */
	settle(mayBeCharged: boolean): void {
		this.admitted--;
		if (!mayBeCharged) this.spent.requests--;
		this.wake();
	}

	/**
	 * Waits until the limits allow another request. If no limit is in credits, waits only for the first read of the balance,
	 * for the step's hint. Throws CancelledError, or the error with which the gate was closed.
	 */
	async ready(gate: StepGate): Promise<void> {
		while (!this.isReady) {
			gate.requireOpen();
			if (this.mustRead) this.read(gate);
			// The item that starts the read waits like all others, so that items continue in their order.
			if (this.reading) await raceAbort(gate.closed, this.reading);
			else if (this.inFlight > 0) await this.result(gate);
			else throw gate.close(this.creditsReached());
		}
		gate.requireOpen();
	}

	/** Begins a request, which `end` ends. Returns false if the item has to wait for `ready` again. */
	begin(): boolean {
		if (!this.isReady) return false;
		this.inFlight++;
		this.unread++;
		this.sinceBase++;
		return true;
	}

	/** Ends a request. `mayBeCharged`: false if it was not sent, or certainly not charged. */
	end(mayBeCharged: boolean): void {
		this.inFlight--;
		if (!mayBeCharged) {
			this.unread--;
			this.sinceBase--;
		}
		// Read the balance at once, before other work on the account changes it further.
		if (this.isMeasuring && this.inFlight === 0 && this.unread > 0) this.read(null);
		this.wake();
	}

	/** Awaits a balance that is being read, or `halt`. Requests that no balance shows yet count at `spent.price`. */
	async close(halt: AbortSignal): Promise<void> {
		if (this.reading)
			await toResult(async () => await raceAbort(halt, this.reading as Promise<void>));
		if (this.isMeasuring) this.spent.credits += this.unread * this.spent.price;
	}

	private get isReady(): boolean {
		return this.reading === null && !this.mustRead && this.room > 0;
	}

	private get mustRead(): boolean {
		if (this.readAt === null) return this.isMeasuring || this.ports.balance !== undefined;
		if (!this.isMeasuring) return false;
		if (this.inFlight === 0 && this.unread > 0) return true;
		if (this.room <= 0 && this.inFlight > 0) return this.unread > this.inFlight;
		return this.ports.clock.now() - this.readAt >= BALANCE_INTERVAL_MS;
	}

	/** Number of requests that may begin before the balance is read again. The further from the limit, the more may begin. */
	private get room(): number {
		if (!this.isMeasuring) return Infinity;
		const { rest } = this;
		const { price } = this.spent;
		if (rest <= 0 || rest < price) return 0;
		return (price === 0 ? 1 : 1 + Math.floor(rest / (PRICE_RANGE * price))) - this.unread;
	}

	/** Credits that may still be spent, by the last balance. */
	private get rest(): number {
		const { maxCredits, minimumBalance } = this.limits;
		const spent = this.spent.credits + this.base - this.balance;
		return Math.min((maxCredits ?? Infinity) - spent, this.balance - (minimumBalance ?? -Infinity));
	}

	/** Waits until a request ends or an item is settled. Throws once the gate is closed. */
	private async result(gate: StepGate): Promise<void> {
		await raceAbort(gate.closed, new Promise<void>((resolve) => this.waiting.push(resolve)));
		gate.requireOpen();
	}

	private wake(): void {
		this.waiting.splice(0).forEach((resume) => resume());
	}

	/** Starts to read the balance. @param gate is closed if the read fails; with `null`, the next item reads again */
	private read(gate: StepGate | null): void {
		this.reading ??= this.readOnce(gate).finally(() => (this.reading = null));
	}

	private async readOnce(gate: StepGate | null): Promise<void> {
		const { clock, service, balance: balanceForHint } = this.ports;
		if (!this.isMeasuring) {
			this.readAt = clock.now();
			this.balanceBefore = (await balanceForHint?.()) ?? null;
			return;
		}
		const { inFlight, unread } = this;
		const read = await toResult(async () => await service.balance());
		if (read.ok) return this.take(read.value.balance, inFlight, unread - inFlight);
		if (gate === null) return;
		throw read.error instanceof GenerationError ? gate.close(notRead(read.error)) : read.error;
	}

	/** @param ended number of creating requests that ended after the previous read of the balance and before this read */
	private take(balance: number, inFlight: number, ended: number): void {
		const { spent } = this;
		this.readAt = this.ports.clock.now();
		this.balance = balance;
		this.unread -= ended;
		if (this.balanceBefore === null) this.base = this.balanceBefore = balance;
		if (inFlight > 0) return;
		const difference = this.base - balance;
		if (this.sinceBase === 1) spent.price = Math.max(spent.price, difference);
		// If the balance did not drop, refunds may have hidden the prices: each request then counts at the highest price seen.
		const hidden = this.sinceBase * spent.price;
		if (this.sinceBase > 0) spent.credits += difference > 0 ? difference : hidden;
		this.base = balance;
		this.sinceBase = 0;
	}

	private creditsReached(): GenerationError {
		const { maxCredits: most = null, minimumBalance: minimum = null } = this.limits;
		const { credits, price } = this.spent;
		const next = price > 0 ? `, and the next generation may cost up to ${amount(price)}` : '';
		if (most !== null && most - credits <= this.rest) {
			return beyondLimit(
				`The limit of ${amount(most)} credits is reached: ${amount(credits)} are spent${next}`,
				'credit_limit_reached',
				TO_CREATE_THE_REST,
			);
		}
		return beyondLimit(
			`${amount(this.balance)} credits are left, your minimum is ${amount(minimum ?? 0)}${next}`,
			'balance_below_minimum',
			`Top up the account, or lower Stop Below Balance. ${TO_CREATE_THE_REST}`,
		);
	}
}

/** The request for the balance has its own retries, so the item is not retried. */
function notRead(error: GenerationError): GenerationError {
	const title = `The balance could not be read: ${error.message}`;
	return error.with({ title, retry: 'never', skipped: true });
}

const TO_CREATE_THE_REST =
	'Run the workflow again to create the rest: items with an Idempotency Key are reused at no charge. Without one, run only the remaining items, because a new run is charged for all.';

const BEYOND_LIMIT = new Set([
	'generation_limit_reached',
	'credit_limit_reached',
	'balance_below_minimum',
]);

/** True for the error of an item that a spending limit kept back. The step does not fail: the user has set the limit. */
export function isBeyondLimit({ code }: Pick<GenerationError, 'code'>): boolean {
	return BEYOND_LIMIT.has(code);
}

function beyondLimit(title: string, code: string, description: string): GenerationError {
	return new GenerationError({ title, description, code, skipped: true });
}

function limitReached(limit: number): GenerationError {
	const generations = limit === 1 ? 'generation' : 'generations';
	return beyondLimit(
		`The limit of ${amount(limit)} new ${generations} is reached`,
		'generation_limit_reached',
		TO_CREATE_THE_REST,
	);
}
