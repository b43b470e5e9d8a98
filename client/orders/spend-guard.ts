import { balanceBelow, type ServiceClient } from '../api/client';
import { GenerationError } from '../api/errors';
import { raceAbort, toResult } from '../async';
import type { StepGate } from './slot-pool';
import type { Clock } from '../ports';
import { amount } from '../text';

/** What a step may spend. `null` and missing values set no limit. */
export interface SpendLimits {
	maxNewGenerations?: number | null;
	/** Requests of earlier attempts of the step, or before a sleep, that were charged or may have been. Default: 0. */
	spentBefore?: number;
	/** Credits below which the step creates nothing more. */
	minimumBalance?: number | null;
}

interface SpendPorts {
	clock: Clock;
	service: ServiceClient;
	/** Reads the balance for the step's hint. Never throws: returns `null` if it cannot be read. */
	balance?: () => Promise<number | null>;
}

const BALANCE_INTERVAL_MS = 1_000;

/**
 * The spending limits of a step. Every creating request is admitted here first, and then reported as charged or not.
 * Once a limit is reached, or the balance cannot be read, the step's gate is closed.
 */
export class SpendGuard {
	/** The balance before the first creating request; `null` if it was not read. */
	balanceBefore: number | null = null;
	/** Requests that were charged or may have been, with those of `spentBefore` and those in flight. */
	spent: number;
	private inFlight = 0;
	/** Resume the requests that wait for the result of another one. */
	private readonly waiting: Array<() => void> = [];
	private reading: Promise<void> | null = null;
	private readAt: number | null = null;

	constructor(
		private readonly limits: SpendLimits,
		private readonly ports: SpendPorts,
	) {
		this.spent = limits.spentBefore ?? 0;
	}

	/** True if the step may stop creating because of a limit. */
	get isLimited(): boolean {
		return (this.limits.maxNewGenerations ?? this.limits.minimumBalance ?? null) !== null;
	}

	/** How many items wait for the results of others. */
	get waitingItems(): number {
		return this.waiting.length;
	}

	/**
	 * Waits until an item may send creating requests. The caller then calls `report` once. An item that is sent again keeps
	 * its place, so that a limit leaves out the last items. Throws as `gate.requireOpen`.
	 */
	async admit(gate: StepGate): Promise<void> {
		const most = this.limits.maxNewGenerations ?? Infinity;
		gate.requireOpen();
		while (this.spent >= most) {
			if (this.inFlight === 0) throw gate.close(limitReached(most));
			const woken = new Promise<void>((resolve) => this.waiting.push(resolve));
			await raceAbort(gate.closed, woken);
			gate.requireOpen();
		}
		this.spent++;
		this.inFlight++;
	}

	/** Waits until the balance allows a request. Throws as `gate.requireOpen`. */
	async requireBalance(gate: StepGate): Promise<void> {
		// An item that waits for the first reading keeps its place before later ones.
		if (this.reading === null && this.readAt !== null && this.isBalanceFresh) return;
		gate.requireOpen();
		this.reading ??= this.check(gate).finally(() => (this.reading = null));
		await raceAbort(gate.closed, this.reading);
		gate.requireOpen();
	}

	/** Records the result of an admitted item: false only if it was certainly not charged, and is not sent again. */
	report(mayBeCharged: boolean): void {
		this.inFlight--;
		if (!mayBeCharged) this.spent--;
		this.waiting.splice(0).forEach((resume) => resume());
	}

	/** True unless a minimum is set, and the balance was read too long ago. */
	get isBalanceFresh(): boolean {
		if ((this.limits.minimumBalance ?? null) === null) return true;
		const age = this.ports.clock.now() - (this.readAt ?? -Infinity);
		// Negative if the clock was set back.
		return age >= 0 && age < BALANCE_INTERVAL_MS;
	}

	/** Reads the balance: only once for the hint, but repeatedly if there is a minimum. */
	private async check(gate: StepGate): Promise<void> {
		const { clock, service, balance: balanceForHint } = this.ports;
		const { minimumBalance: minimum = null } = this.limits;
		if (minimum === null) {
			this.readAt = clock.now();
			if (!balanceForHint) return;
			this.balanceBefore = await balanceForHint();
			return;
		}
		const read = await toResult(async () => await service.balance());
		if (!read.ok) {
			throw read.error instanceof GenerationError ? gate.close(notRead(read.error)) : read.error;
		}
		const { balance } = read.value;
		this.readAt = clock.now();
		this.balanceBefore ??= balance;
		if (balance >= minimum) return;
		gate.close(balanceBelow(balance, minimum, 'Stop Below Balance').with({ skipped: true }));
	}
}

/** The request for the balance has its own retries, so the item is not retried. */
function notRead(error: GenerationError): GenerationError {
	const title = `The balance could not be read: ${error.message}`;
	return error.with({ title, retry: 'never', skipped: true });
}

const LIMIT_REACHED = 'generation_limit_reached';

/** True for the error of an item beyond `maxNewGenerations`. It does not end a step: the user asked for that many. */
export function isBeyondLimit({ code }: Pick<GenerationError, 'code'>): boolean {
	return code === LIMIT_REACHED;
}

function limitReached(limit: number): GenerationError {
	return new GenerationError({
		title: `The limit of ${amount(limit)} new ${limit === 1 ? 'generation' : 'generations'} is reached`,
		description:
			'Run the workflow again to create the rest: items with an Idempotency Key are reused at no charge. Without one, run only the remaining items, because a new run is charged for all.',
		code: LIMIT_REACHED,
		skipped: true,
	});
}
