import { toResult, withTimeout } from '../../../client/async';
import { requestClock } from './clock';
import { serviceOf } from './transport';
import type { Step } from '../step';

/** Maximum time for a balance that is only shown in a hint, in milliseconds. */
const TIMEOUT_MS = 3_000;

/** Reads the balance for a hint (spec 4.5), once and without retries. */
export async function glanceAtBalance(step: Step): Promise<number | null> {
	const read = async (signal: AbortSignal) =>
		(await serviceOf(step, { signal, maxRetries: 0 }).balance()).balance;
	const found = await toResult(
		async () => await withTimeout(requestClock, TIMEOUT_MS, step.signal, read),
	);
	return found.ok ? found.value : null;
}
