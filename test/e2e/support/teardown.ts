import type { Prepared } from './setup';

/** Runs after all tests: ends what `setup` has started. */
export default async function teardown(): Promise<void> {
	await (globalThis as Prepared).endPrepared?.();
}
