import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a check succeeds. Throws after the timeout. */
export async function until(
	what: string,
	check: () => boolean | Promise<boolean>,
	timeoutMs = 30_000,
): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while (!(await check())) {
		if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}.`);
		await delay(50);
	}
}
