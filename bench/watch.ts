/** Measures memory and event-loop pauses of a process while it works. */

const SAMPLE_EVERY_MS = 20;
const TICK_MS = 5;

/** Measures the resident memory of this process. `stop` returns its maximum growth in bytes. */
export function watchMemory(): { stop: () => number } {
	global.gc?.();
	const before = process.memoryUsage.rss();
	let most = before;
	const sample = () => (most = Math.max(most, process.memoryUsage.rss()));
	const timer = setInterval(sample, SAMPLE_EVERY_MS);
	return {
		stop: () => {
			clearInterval(timer);
			sample();
			return most - before;
		},
	};
}

/** How long the event loop of a process was blocked, in milliseconds. */
export interface Stalls {
	longest: number;
	/** The longest block caused by this process itself, not by other processes that used the CPU. */
	longestOwn: number;
}

/** Measures the event loop of this process. */
export function watchLoop(): { stop: () => Stalls } {
	const stalls: Stalls = { longest: 0, longestOwn: 0 };
	let since = performance.now();
	let used = process.cpuUsage();
	const tick = () => {
		const now = performance.now();
		const still = Math.max(0, now - since - TICK_MS);
		const { user, system } = process.cpuUsage(used);
		stalls.longest = Math.max(stalls.longest, still);
		stalls.longestOwn = Math.max(stalls.longestOwn, Math.min(still, (user + system) / 1000));
		since = now;
		used = process.cpuUsage();
	};
	const timer = setInterval(tick, TICK_MS);
	return {
		stop: () => {
			clearInterval(timer);
			tick();
			return stalls;
		},
	};
}
