import type { LogNormal } from './duration-estimate';

/** Moments among which a plan chooses. */
const STEPS = 150;
/** How far from the median, in deviations, a plan reaches: 99.8 % of all generations end in between. */
const REACH = 3.1;
/** How many looks a plan covers: what takes longer is looked at every interval, and planning stays quick. */
const MOST_LOOKS = 100;

/**
 * When best to look at a generation whose duration is distributed in a known way, so that its end is noticed soon.
 * The looks are those that one every `intervalMs` would cost, no more: the j-th look comes no earlier than `j`
 * intervals after the start, so looks saved early are there to be spent near the expected end.
 *
 * Found by dynamic programming from the end: of each moment and number of looks so far, the next look that keeps the
 * expected delay of noticing smallest.
 */
export class PollPlan {
	private readonly times: number[];
	private readonly shares: number[];
	/** Sums of time × share up to each moment: what gives the expected delay of an interval in one subtraction. */
	private readonly weightedTimes: number[] = [0];
	private readonly delays = new Map<number, number[]>();
	private readonly choices = new Map<number, number[]>();

	constructor(
		distribution: LogNormal,
		private readonly intervalMs: number,
	) {
		const [from, to] = [distribution.at(-REACH), distribution.at(REACH)];
		const grid = Array.from({ length: STEPS }, (_, k) => from + ((to - from) * k) / (STEPS - 1));
		this.times = [0, ...grid];
		this.shares = this.times.map((time) => distribution.share(time));
		for (let k = 1; k < this.times.length; k++) {
			const middle = (this.times[k] + this.times[k - 1]) / 2;
			const share = this.shares[k] - this.shares[k - 1];
			this.weightedTimes.push(this.weightedTimes[k - 1] + middle * share);
		}
		this.solve();
	}

	/**
	 * @param looks how many there were so far
	 * @param ageMs how long the generation has run
	 * @returns the age at which to look next; `null` past all that the plan reaches
	 */
	next(looks: number, ageMs: number): number | null {
		const last = this.times.length - 1;
		if (ageMs >= this.times[last]) return null;
		let moment = last;
		while (this.times[moment] > ageMs) moment--;
		const choice = this.choices.get(looks)?.[moment];
		return choice === undefined || choice < 0 ? null : this.times[choice];
	}

	private solve(): void {
		const reach = Math.ceil(this.times[this.times.length - 1] / this.intervalMs);
		const mostLooks = Math.min(reach, MOST_LOOKS);
		for (let looks = mostLooks; looks >= 0; looks--) {
			const best = this.times.map((_, moment) => this.bestAfter(looks, moment));
			this.delays.set(
				looks,
				best.map(({ delay }) => delay),
			);
			this.choices.set(
				looks,
				best.map(({ choice }) => choice),
			);
		}
	}

	/** The next look after one at `moment`, with `looks` made, and the expected delay from there on. */
	private bestAfter(looks: number, moment: number): { delay: number; choice: number } {
		const earliest = (looks + 1) * this.intervalMs;
		const later = this.delays.get(looks + 1);
		let best = { delay: this.delayBetween(moment, this.times.length - 1, earliest), choice: -1 };
		for (let next = moment + 1; next < this.times.length; next++) {
			if (this.times[next] < earliest) continue;
			const here = this.delayBetween(moment, next, this.times[next]);
			if (here >= best.delay && best.choice >= 0) break;
			const delay = here + (later?.[next] ?? 0);
			if (delay < best.delay || best.choice < 0) best = { delay, choice: next };
		}
		return best;
	}

	/** The expected delay of noticing, at `time`, the ends between two moments. */
	private delayBetween(from: number, to: number, time: number): number {
		const share = this.shares[to] - this.shares[from];
		return Math.max(0, time * share - (this.weightedTimes[to] - this.weightedTimes[from]));
	}
}
