/** How far generations are expected to be from the catalogue's average: a deviation of the logarithm. */
const EXPECTED_DEVIATION = 0.3;
/** How many finished generations that expectation outweighs. Chosen by `npm run bench`, as is the deviation. */
const EXPECTATION_WEIGHT = 8;

/**
 * How long generations of a model take: a log-normal distribution, learned from the catalogue's average (spec 2.2) and
 * from those that have finished.
 */
export class DurationEstimate {
	private count = 0;
	private sum = 0;
	private squares = 0;

	/** @param expectedMs what the catalogue says, `null` where it says nothing */
	constructor(private readonly expectedMs: number | null) {}

	/** A generation ended after more than `fromMs` and at most `toMs`: that is as exactly as looking now and then tells. */
	learn(fromMs: number, toMs: number): void {
		const likely = this.distribution()?.middle(fromMs, toMs) ?? (fromMs + toMs) / 2;
		const logarithm = Math.log(Math.max(likely, 1));
		this.count++;
		this.sum += logarithm;
		this.squares += logarithm ** 2;
	}

	/** The distribution of durations in milliseconds, `null` while nothing is known. */
	distribution(): LogNormal | null {
		if (this.expectedMs === null && this.count === 0) return null;
		const expected = this.expectedMs === null ? this.sum / this.count : Math.log(this.expectedMs);
		const weight = this.count + EXPECTATION_WEIGHT;
		const mean = (this.sum + EXPECTATION_WEIGHT * expected) / weight;
		const seen = this.squares - 2 * mean * this.sum + this.count * mean ** 2;
		const variance = (EXPECTATION_WEIGHT * EXPECTED_DEVIATION ** 2 + seen) / weight;
		return new LogNormal(mean, Math.sqrt(variance));
	}
}

/** A log-normal distribution by the mean and the deviation of its logarithm. */
export class LogNormal {
	constructor(
		private readonly mean: number,
		private readonly deviation: number,
	) {}

	/** The share of values up to `x`. */
	share(x: number): number {
		return x <= 0 ? 0 : normalShare((Math.log(x) - this.mean) / this.deviation);
	}

	/** The value that lies `deviations` above the median. */
	at(deviations: number): number {
		return Math.exp(this.mean + deviations * this.deviation);
	}

	/** The value between two that half of those between them lie below. */
	middle(from: number, to: number): number {
		const half = (this.share(from) + this.share(to)) / 2;
		let [low, high] = [from, to];
		while (high - low > (to - from) / 1000) {
			const value = (low + high) / 2;
			if (this.share(value) < half) low = value;
			else high = value;
		}
		return high;
	}
}

/** The standard normal distribution function, to seven digits (Abramowitz and Stegun, 26.2.17). */
function normalShare(z: number): number {
	const t = 1 / (1 + 0.2316419 * Math.abs(z));
	const coefficients = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
	const series = coefficients.reduceRight((sum, coefficient) => (sum + coefficient) * t, 0);
	const upperTail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
	return z >= 0 ? 1 - upperTail : upperTail;
}
