import type { Try } from './schedule';
import type { World } from './world';

/** Maximum age of the last balance: the interval, and the duration of the request. */
const UNREAD_MS = 1_050;

/** Judges the creating requests of one try by the spending limits of its settings. */
export class SpendingJudge {
	/** Time since which the balance was below the minimum, for each creating request. */
	private poorSince: number | null = null;

	/** @param chargesBefore number of charges before the try */
	constructor(
		private readonly world: World,
		private readonly settings: Try['settings'],
		private readonly chargesBefore: number,
	) {}

	/**
	 * Judges a creating request that is sent. None may be sent if the balance has been too low for longer than a read
	 * takes.
	 */
	request(item: number): void {
		const { minimumBalance } = this.settings;
		const now = this.world.time.now();
		if (minimumBalance === null || this.world.balance >= minimumBalance) this.poorSince = null;
		else this.poorSince ??= now;
		if (this.poorSince !== null && now - this.poorSince > UNREAD_MS) {
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
