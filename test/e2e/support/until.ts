import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a check succeeds. Throws after the timeout, which only ends a wait that would never end. */
export async function until(
	what: string,
	check: () => boolean | Promise<boolean>,
	timeoutMs = 300_000,
): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!(await check())) {
		if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}.`);
		await delay(50);
	}
}
