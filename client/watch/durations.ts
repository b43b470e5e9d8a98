/** Number of generations to remember. The last ones count: a model may become slower or faster. */
const MOST_REMEMBERED = 128;
/** What is known before any generation has ended counts as much as this number of ended generations. */
const PRIOR_WEIGHT = 1;
/** Before anything is known, a generation of age t has probably ended by the age of 2t + this. */
const PRIOR_SCALE_MS = 1_000;

/** How long the generations of a model take, learned from those of one step that have ended. In milliseconds. */
export class Durations {
	/** Each one ended at an age between these two. */
	private readonly known: Array<{ from: number; to: number }> = [];

	get areKnown(): boolean {
		return this.known.length > 0;
	}

	/** Records a generation that was running at the age `from` and had ended at the age `to`. */
	add(from: number, to: number): void {
		this.known.push({ from, to: Math.max(to, from + 1) });
		if (this.known.length > MOST_REMEMBERED) this.known.shift();
	}

	/** Returns the probability that a generation ends before the age `to`, if it was running at the age `from`. */
	chance(from: number, to: number): number {
		const running = 1 - this.ended(from);
		return running > 0 ? (this.ended(to) - this.ended(from)) / running : 1;
	}

	private ended(age: number): number {
		const prior = age / (age + PRIOR_SCALE_MS);
		let sum = PRIOR_WEIGHT * prior;
		for (const { from, to } of this.known) {
			if (age >= to) sum++;
			else if (age > from) sum += (age - from) / (to - from);
		}
		return sum / (PRIOR_WEIGHT + this.known.length);
	}
}
