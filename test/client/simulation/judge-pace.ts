import type { Answer } from './schedule';
import type { World } from './world';

/** Status checks of one generation that may follow another within the poll interval: they confirm a probe. */
const MOST_CONFIRMING = 4;

type Kind = 'create' | 'look';

/** Judges when the requests of one try are sent: after the poll interval, and not before the service has asked. */
export class PaceJudge {
	/** When the status of each generation was last requested. */
	private readonly checkedAt = new Map<string, number>();
	/** Status checks within the poll interval, by path. */
	private readonly confirming = new Map<string, number>();
	/**
	 * Until when the service has asked to send nothing, for each kind of request. `full`: creating requests that need
	 * another slot than those that the step has freed.
	 */
	private readonly holds = {
		create: { since: 0, until: 0 },
		full: { since: 0, until: 0 },
		look: { since: 0, until: 0 },
	};
	/** Number of slots that the step has freed, and that no request has used since. */
	private freed = 0;

	constructor(private readonly world: World) {}

	/**
	 * Judges whether a creating request is sent before the time that the service has named. Others may leave at the same
	 * moment. Returns true if it may use a slot that the step has freed.
	 */
	creates(): boolean {
		this.keeps('create', 'create');
		const usesFreed = this.freed > 0;
		if (usesFreed) this.freed--;
		else this.keeps('create', 'full');
		return usesFreed;
	}

	/** Judges when a status check is sent, as `creates`. */
	looks(): void {
		this.keeps('look', 'look');
	}

	/** Notes that the step has seen the end of one of its generations. */
	ended(): void {
		this.freed++;
	}

	private isHeld(kind: Kind | 'full'): boolean {
		const { since, until } = this.holds[kind];
		const now = this.world.time.now();
		return now > since && now < until;
	}

	private keeps(kind: Kind, hold: Kind | 'full'): void {
		if (!this.isHeld(hold)) return;
		const { until } = this.holds[hold];
		const now = this.world.time.now();
		this.world.blame(`A request (${kind}) leaves ${until - now} ms before the service has asked`);
	}

	/**
	 * Notes that an answer asks to wait before the next request of its kind.
	 *
	 * @param usesFreed as `creates` has returned it
	 */
	answered(kind: Kind, answer: Answer, usesFreed = false): void {
		const seconds = 'retryAfter' in answer ? (answer.retryAfter ?? 0) : 0;
		const now = this.world.time.now();
		const until = now + seconds * 1000;
		const isFull = answer.kind === 'refusal' && answer.code === 'CONCURRENCY_LIMIT_REACHED';
		// Any other answer leaves the slot free.
		if (usesFreed && !isFull && answer.kind !== 'own') this.freed++;
		const hold = isFull && kind === 'create' ? 'full' : kind;
		if (until > this.holds[hold].until) this.holds[hold] = { since: now, until };
	}

	/** Judges a status check of an item's generation. */
	checked(item: number, path: string): void {
		const now = this.world.time.now();
		const since = now - (this.checkedAt.get(path) ?? -Infinity);
		this.checkedAt.set(path, now);
		if (since >= this.world.schedule.pollSeconds * 1000) return;
		const confirming = (this.confirming.get(path) ?? 0) + 1;
		this.confirming.set(path, confirming);
		if (confirming <= MOST_CONFIRMING) return;
		this.world.blame(`Item ${item} is checked again after ${since} ms`);
	}
}
