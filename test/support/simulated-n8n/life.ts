import type { VirtualTime } from '../virtual-time';

/** A process of n8n. After it was killed, nothing that waits in it goes on. */
export class Life {
	private isOver = false;

	/** @param bornAt milliseconds since the Unix epoch */
	constructor(
		private readonly time: VirtualTime,
		readonly bornAt: number,
	) {}

	get isDead(): boolean {
		return this.isOver;
	}

	kill(): void {
		this.isOver = true;
	}

	/** Resolves after this time, and never after the death of the process. */
	async sleep(ms: number, signal?: AbortSignal): Promise<void> {
		if (this.isOver) await forever();
		await this.time.sleep(ms, signal);
		if (this.isOver) await forever();
	}

	/** Settles as the task does, and never after the death of the process. */
	async survive<T>(task: Promise<T>): Promise<T> {
		try {
			return await task;
		} finally {
			if (this.isOver) await forever();
		}
	}

	/** Aborts after this time, as `AbortSignal.timeout` does. */
	timeout(ms: number): AbortSignal {
		const late = new AbortController();
		void this.sleep(ms).then(() => {
			late.abort(Object.assign(new Error('The operation timed out'), { name: 'TimeoutError' }));
		});
		return late.signal;
	}
}

async function forever(): Promise<void> {
	await new Promise<never>(() => undefined);
}
