import { toResult, type Result } from '../async';
import type { Row, RowFields } from '../jobs/row';
import type { Clock } from '../ports';

/** The claim of a step: its request may be in flight. */
export interface Held {
	row: RowFields & Partial<Row>;
	/** True if an earlier request of the row may have been charged. */
	wasUnresolved: boolean;
	/** The `Idempotency-Key` header of its request. */
	header: string;
}

/** An early claim whose order is not sent within this time is taken back. */
const MAX_WAIT_MS = 3_000;
/** A request leaves at most this long after its claim began. Otherwise its row is written and read again. */
export const MAX_CLAIM_AGE_MS = 20_000;

/**
 * A claim that begins before its order can be sent, so that no slot is idle while the table is written. If the process
 * dies before the request leaves, the charge of the order is uncertain. So it begins only shortly before.
 */
export class EarlyClaim {
	private pending: { at: number; claim: Promise<Result<Held | null>> } | null = null;

	/** @param release takes a claim back */
	constructor(
		private readonly clock: Clock,
		private readonly release: () => void,
	) {}

	begin(claim: () => Promise<Held | null>): void {
		const pending = { at: this.clock.now(), claim: toResult(claim) };
		this.pending = pending;
		void pending.claim
			.then(async () => await this.clock.sleep(MAX_WAIT_MS))
			.then(async () => this.pending === pending && (await this.take(false)));
	}

	/** Returns the claim; `null` if there is none that counts. `isUsed`: false to take it back. */
	async take(isUsed = true): Promise<Held | null> {
		const { pending } = this;
		const claimed = await pending?.claim;
		// It may have been taken back meanwhile.
		if (!pending || this.pending !== pending) return null;
		this.pending = null;
		if (!claimed?.ok || claimed.value === null) return null;
		if (isUsed && this.clock.now() - pending.at < MAX_CLAIM_AGE_MS) return claimed.value;
		this.release();
		return null;
	}
}
