import { wallClock } from '../../nodes/shared/clock';

const { sleep } = wallClock;

/**
 * Time that runs a number of times as fast, for the nodes and for whoever else goes by this clock (the sandbox).
 * Nothing else changes: a minute of polling is as many looks as ever.
 */
export class FastTime {
	private began = Date.now();
	private start = this.began;

	/** Takes the place of the nodes' clock for as long as the test file lasts. */
	constructor(private factor: number) {
		jest.spyOn(wallClock, 'now').mockImplementation(this.now);
		jest
			.spyOn(wallClock, 'sleep')
			.mockImplementation(async (ms, signal) => await sleep(ms / this.factor, signal));
	}

	/** Milliseconds since 1970. */
	readonly now = (): number => this.start + (Date.now() - this.began) * this.factor;

	/** So much time has passed at once. */
	leap(seconds: number): void {
		this.start += seconds * 1000;
	}

	/** Goes on from here at another pace: 1 is that of the wall. */
	setPace(factor: number): void {
		this.start = this.now();
		this.began = Date.now();
		this.factor = factor;
	}
}
