import type { Answer } from './schedule';
import type { World } from './world';

/** Status checks of one generation that may follow another within the poll interval: they confirm a probe. */
export const MOST_CONFIRMING = 4;

type Kind = 'create' | 'look';

/** Judges when the requests of one try are sent: after the poll interval, and not before the service has asked. */
export class PaceJudge {
	/** When the status of each generation was last requested. */
	private readonly checkedAt = new Map<string, number>();
	/** Status checks within the poll interval, by path. */
	private readonly confirming = new Map<string, number>();
	/** Until when the service has asked to send nothing, for each kind of request. */
	private readonly holds = { create: { since: 0, until: 0 }, look: { since: 0, until: 0 } };

	constructor(private readonly world: World) {}

	/** Judges whether a request is sent before the time that the service has named. Others may leave at the same moment. */
	sent(kind: Kind): void {
		const { since, until } = this.holds[kind];
		const now = this.world.time.now();
		if (now <= since || now >= until) return;
		this.world.blame(`A request (${kind}) leaves ${until - now} ms before the service has asked`);
	}

	/** Notes that an answer asks to wait before the next request of its kind. */
	answered(kind: Kind, answer: Answer): void {
		const seconds = 'retryAfter' in answer ? (answer.retryAfter ?? 0) : 0;
		const now = this.world.time.now();
		const until = now + seconds * 1000;
		if (until > this.holds[kind].until) this.holds[kind] = { since: now, until };
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
