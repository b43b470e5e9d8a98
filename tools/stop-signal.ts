/**
 * Returns one abort signal for Ctrl-C and similar signals. They can arrive several times, because npm forwards them.
 *
 * @param patienceMs how long a stop can take before the process is killed
 */
export function stopSignal(patienceMs: number): AbortSignal {
	const stop = new AbortController();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(name, () => {
			if (stop.signal.aborted) return;
			process.exitCode = name === 'SIGINT' ? 130 : 143;
			stop.abort();
			setTimeout(() => process.exit(), patienceMs).unref();
		});
	}
	return stop.signal;
}
