import type { Clock } from '../../../client/ports';
import type { VirtualTime } from '../../support/virtual-time';

/** The n8n process of one execution. Its clock may be wrong, it may be paused, and it may be killed. */
export class KeyedProcess {
	readonly clock: Clock;
	private isDead = false;
	private resumesAt = 0;
	private die: () => void = () => undefined;
	/** Resolves when the process is killed. */
	readonly death = new Promise<null>((resolve) => (this.die = () => resolve(null)));

	/**
	 * @param machine the machine that runs all processes, with the time when it wakes
	 * @param clockOffMs how far its clock is ahead of the true time, in milliseconds
	 */
	constructor(
		private readonly time: VirtualTime,
		private readonly machine: { wakesAt: number },
		clockOffMs: number,
	) {
		this.clock = {
			now: () => time.now() + clockOffMs,
			sleep: async (ms, signal) => {
				await time.sleep(ms, signal);
				if (this.isDead || this.pausedMs > 0) await this.running();
			},
		};
	}

	/** Resolves as soon as the process runs: late after a pause, and never after its death. */
	async running(): Promise<void> {
		for (let waitMs = this.pausedMs; waitMs > 0; waitMs = this.pausedMs) {
			await this.time.sleep(waitMs);
		}
		if (this.isDead) await new Promise<never>(() => undefined);
	}

	/** Calls `action` in the process after this many milliseconds. */
	after(ms: number | null, action: () => void): void {
		if (ms !== null) void this.clock.sleep(ms).then(action);
	}

	/** Pauses the process for this long. Everything that arrives in the meantime is available when it resumes. */
	pause(ms: number): void {
		this.resumesAt = Math.max(this.resumesAt, this.time.now() + ms);
	}

	private get pausedMs(): number {
		return Math.max(this.resumesAt, this.machine.wakesAt) - this.time.now();
	}

	kill(): void {
		this.isDead = true;
		this.die();
	}
}
