/**
 * One signal for Ctrl-C and its relatives, which may come several times: npm passes them on too.
 *
 * @param patienceMs how long a stop may take before the process is ended in any case
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
