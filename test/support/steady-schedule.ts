import { PollSchedule } from '../../client/watching/poll-schedule';

/** Looks every so often, whatever there is to be learned: so a test can say when. */
export class SteadySchedule extends PollSchedule {
	constructor(private readonly everyMs: number) {
		super(everyMs, () => 0);
	}

	override delay(): number {
		return this.everyMs;
	}

	override learn(): void {}
}
