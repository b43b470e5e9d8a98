import { balanceBelow, type Credits } from './api/client';
import { CancelledError, GenerationError } from './api/errors';
import { attempt, onAbort } from './async';
import type { Clock } from './ports';

/** What a step may spend. `null` and missing values set no limit. */
export interface SpendLimits {
	/** Maximum number of generations that the step creates. */
	maxNewGenerations?: number | null;
	/**
	 * Requests of earlier attempts of the step, or before a sleep, that were charged or may have been. They count too.
	 * Default: 0.
	 */
	spentBefore?: number;
	/** Credits below which the step creates nothing more. */
	minimumBalance?: number | null;
}

interface SpendPorts {
	clock: Clock;
	/** Reads the balance (spec 4.5). Throws if it cannot be read. */
	readBalance: () => Promise<Credits>;
	/** Reads the balance for the step's hint. Returns `null` if it cannot be read. If omitted, the hint is not shown. */
	balanceForHint?: () => Promise<number | null>;
}

/** Minimum time between two reads of the balance, in milliseconds. */
const BALANCE_INTERVAL_MS = 1_000;

/**
 * The spending limits of a step. Every creating request is admitted here first, and then reported as charged or not.
 * Once a limit is reached, or the balance cannot be read, nothing more is admitted.
 */
export class SpendGuard {
	/** The balance before the first creating request; `null` if it was not read. */
	balanceBefore: number | null = null;
	private closedBy: GenerationError | null = null;
	private readonly waiting = new Set<() => void>();
	/**
	 * Number of requests, including earlier attempts of the step, that were charged or may have been. It counts those in
	 * flight.
	 */
	spent: number;
	private inFlight = 0;
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

	private get isUsedUp(): boolean {
		return this.spent >= (this.limits.maxNewGenerations ?? Infinity);
	}

	/**
	 * Waits until a creating request may be sent. The caller then calls `report` once.
	 *
	 * @param halt ends the wait
	 * @throws GenerationError `generation_limit_reached` or `balance_below_minimum`, or the error of reading the balance;
	 * CancelledError if the step ends first
	 */
	async admit(halt: AbortSignal): Promise<void> {
		while (this.closedBy === null && this.isUsedUp && this.inFlight > 0) await this.pause(halt);
		this.requireOpen(halt);
		if (this.isUsedUp) throw this.close(limitReached(this.limits.maxNewGenerations ?? 0));
		this.spent++;
		this.inFlight++;
		const checked = await attempt(async () => {
			await (this.reading ??= this.check().finally(() => (this.reading = null)));
			this.requireOpen(halt);
		});
		if (checked.ok) return;
		this.report(false);
		throw checked.error;
	}

	/**
	 * Records the result of an admitted request.
	 *
	 * @param mayBeCharged false if it was certainly not charged
	 */
	report(mayBeCharged: boolean): void {
		this.inFlight--;
		if (!mayBeCharged) this.spent--;
		this.wake();
	}

	private async check(): Promise<void> {
		const { clock, readBalance, balanceForHint } = this.ports;
		const { minimumBalance: minimum = null } = this.limits;
		const first = this.readAt === null;
		if (minimum === null) {
			this.readAt ??= clock.now();
			if (first && balanceForHint) this.balanceBefore = await balanceForHint();
			return;
		}
		const age = clock.now() - (this.readAt ?? -Infinity);
		// Negative if the clock was set back.
		if (age >= 0 && age < BALANCE_INTERVAL_MS) return;
		const read = await attempt(readBalance);
		if (!read.ok)
			throw read.error instanceof GenerationError ? this.close(notRead(read.error)) : read.error;
		const credits = read.value;
		this.readAt = clock.now();
		if (first) this.balanceBefore = credits.balance;
		if (credits.balance < minimum) {
			this.close(
				balanceBelow(credits.balance, minimum, 'Stop Below Balance').with({ skipped: true }),
			);
		}
	}

	private requireOpen(halt: AbortSignal): void {
		if (halt.aborted) throw new CancelledError();
		if (this.closedBy) throw this.closedBy;
	}

	private close(error: GenerationError): GenerationError {
		this.closedBy ??= error;
		this.wake();
		return this.closedBy;
	}

	private async pause(halt: AbortSignal): Promise<void> {
		await new Promise<void>((resolve) => {
			const forget = onAbort(halt, resolve);
			this.waiting.add(() => {
				forget();
				resolve();
			});
		});
		if (halt.aborted) throw new CancelledError();
	}

	private wake(): void {
		const woken = [...this.waiting];
		this.waiting.clear();
		woken.forEach((resume) => resume());
	}
}

/** The balance was read with retries of its own, so nothing is tried again for it. */
function notRead(error: GenerationError): GenerationError {
	const title = `The balance could not be read: ${error.message}`;
	return error.with({ title, retry: 'never', skipped: true });
}

function limitReached(limit: number): GenerationError {
	return new GenerationError({
		title: `The limit of ${limit} new ${limit === 1 ? 'generation' : 'generations'} is reached`,
		description:
			'If the items have an Idempotency Key, run the workflow again to create the rest. Without a key, a new run is charged for all items. If the execution failed, raise Limit New Generations, save, and use “Retry with currently saved workflow”. If it succeeded, run only the remaining items.',
		code: 'generation_limit_reached',
		skipped: true,
	});
}
