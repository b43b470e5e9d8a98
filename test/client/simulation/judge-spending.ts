import type { Try } from './schedule';
import type { World } from './world';

/** Judges the creating requests of one try by the spending limits of its settings. */
export class SpendingJudge {
	private readonly refundsBefore: number;

	/** @param chargesBefore number of charges before the try */
	constructor(
		private readonly world: World,
		private readonly settings: Try['settings'],
		private readonly chargesBefore: number,
	) {
		this.refundsBefore = this.refunds;
	}

	private get refunds(): number {
		return this.world.service.books.totals.refunded;
	}

	/**
	 * Judges a creating request that is sent. None may be sent once the credits that the user allows are spent. A refund
	 * that arrives while a request is measured hides its price.
	 */
	request(item: number): void {
		const { minimumBalance, maxCredits } = this.settings;
		const { balance, service } = this.world;
		const ids = new Set(this.world.charges.slice(this.chargesBefore).map(({ id }) => id));
		const mine = service.books.generations.filter(({ id }) => ids.has(id));
		const spent = mine.reduce((sum, { charged }) => sum + charged, 0);
		const hidden = this.refunds - this.refundsBefore;
		const isSpent = spent - hidden >= (maxCredits ?? Infinity);
		if (balance <= (minimumBalance ?? -Infinity) || isSpent) {
			this.world.blame(`Item ${item} is sent although too few credits are left`);
		}
	}

	/**
	 * Judges how many generations the try has created.
	 *
	 * @returns false if the item has more than its settings allow, and the try should end
	 */
	created(item: number): boolean {
		const { onUncertainCharge, retriesOnFailure, fallbacks, maxNewGenerations } = this.settings;
		const all = this.world.charges.length - this.chargesBefore;
		if (maxNewGenerations !== null && all > maxNewGenerations) {
			this.world.blame(`${all} generations in one try, ${maxNewGenerations} allowed`);
		}
		const { length } = this.world.charges.filter(
			(charge) => charge.item === item && charge.number > this.chargesBefore,
		);
		// After a lost response, a request may be sent three more times.
		const each = onUncertainCharge === 'error' ? 1 : 4;
		const most = each * (1 + retriesOnFailure + fallbacks);
		if (length <= most) return true;
		this.world.blame(`Item ${item}: ${length} generations in one try, ${most} allowed`);
		return false;
	}
}
