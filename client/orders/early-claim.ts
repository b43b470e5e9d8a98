import { toResult, type Result } from '../async';
import type { Row, RowFields } from '../jobs/row';
import type { Clock } from '../ports';

/** A step's right to send the creating request of an order. The request may already be in flight. */
export interface Held {
	row: RowFields & Partial<Row>;
	/** True if an earlier request of the row may have been charged. */
	wasUnresolved: boolean;
	/** The `Idempotency-Key` header of the request. */
	header: string;
}

/** An early claim is taken back if its order is not sent within this time after the claim's row was written. */
const MAX_WAIT_MS = 3_000;
/** A request is sent only within this time after its claim was written. Later, the claim is first written again. */
export const MAX_CLAIM_AGE_MS = 20_000;

/**
 * A claim whose row is written shortly before a slot becomes free, so that the slot is not idle during the write. The claim
 * must not begin sooner: if the process dies before the request, the row counts as a request that may have been charged.
 */
export class EarlyClaim {
	private pending: { at: number; claim: Promise<Result<Held | null>> } | null = null;

	/** @param release takes the claim back, and deletes its row */
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

	/** Ends the early claim. Returns the claim if `isUsed` is true and the claim is not too old. Otherwise, releases it. */
	async take(isUsed = true): Promise<Held | null> {
		const { pending } = this;
		const claimed = await pending?.claim;
		// Another call of `take` may have ended the claim during the `await`.
		if (!pending || this.pending !== pending) return null;
		this.pending = null;
		if (!claimed?.ok || claimed.value === null) return null;
		if (isUsed && this.clock.now() - pending.at < MAX_CLAIM_AGE_MS) return claimed.value;
		this.release();
		return null;
	}
}
