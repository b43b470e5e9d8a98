import { DurationEstimate } from './duration-estimate';
import { PollPlan } from './poll-plan';
import type { Random } from '../basics/ports';

/** A generation that is being watched. */
export interface Watched {
	model: string | null;
	/** How many times it has been looked at. */
	looks: number;
	/** For how long it has been watched. */
	ageMs: number;
	/** Whether it has been watched since it was created: only then is its age known. */
	fromBirth: boolean;
}

/**
 * When to look at each generation of a step next: one schedule for all of them. It never costs a generation more looks
 * than one every interval would, but moves them in time: later at first, closer near the end that is expected from the
 * catalogue's average and from the generations that have finished.
 */
export class PollSchedule {
	private readonly estimates = new Map<string, DurationEstimate>();
	private readonly plans = new Map<string, PollPlan | null>();

	/**
	 * @param intervalMs what the looks at a generation may cost: one every so many milliseconds
	 * @param expectedMs how long generations of a model take, as far as the catalogue says
	 */
	constructor(
		private readonly intervalMs: number,
		private readonly random: Random,
		private readonly expectedMs: ReadonlyMap<string, number> = new Map(),
	) {}

	/** @returns milliseconds from now to the next look */
	delay({ model, looks, ageMs, fromBirth }: Watched): number {
		const planned = fromBirth ? this.planFor(model ?? '')?.next(looks, ageMs) : null;
		if (planned === null || planned === undefined) {
			// Generations that were submitted together are not to be looked at in the same instant.
			return this.intervalMs * (1 + 0.03 * this.random());
		}
		const earliest = (looks + 1) * this.intervalMs;
		return Math.max(planned, earliest) - ageMs + 0.005 * this.intervalMs * this.random();
	}

	/** A generation was found finished, `gapMs` after it was last seen running. */
	learn({ model, ageMs }: Watched, gapMs: number): void {
		const key = model ?? '';
		this.estimateFor(key).learn(ageMs - gapMs, ageMs);
		this.plans.delete(key);
	}

	private planFor(model: string): PollPlan | null {
		if (!this.plans.has(model)) {
			const distribution = this.estimateFor(model).distribution();
			this.plans.set(model, distribution && new PollPlan(distribution, this.intervalMs));
		}
		return this.plans.get(model) ?? null;
	}

	private estimateFor(model: string): DurationEstimate {
		const estimate =
			this.estimates.get(model) ?? new DurationEstimate(this.expectedMs.get(model) ?? null);
		this.estimates.set(model, estimate);
		return estimate;
	}
}
