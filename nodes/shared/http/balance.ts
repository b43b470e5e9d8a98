import type { IExecuteFunctions } from 'n8n-workflow';

import { toResult, withTimeout } from '../../../client/async';
import { cancelSignal } from '../execution';
import { requestClock } from './clock';
import { serviceOf } from './transport';

/** Maximum time for a balance that is only shown in a hint, in milliseconds. */
const TIMEOUT_MS = 3_000;

/**
 * Reads the balance for a hint (spec 4.5), once and without retries.
 *
 * @returns credits; `null` if the balance could not be read in time. Never throws.
 */
export async function glanceAtBalance(context: IExecuteFunctions): Promise<number | null> {
	const read = async (signal: AbortSignal) =>
		(await serviceOf(context, { signal, maxRetries: 0 }).balance()).balance;
	const found = await toResult(
		async () => await withTimeout(requestClock, TIMEOUT_MS, cancelSignal(context), read),
	);
	return found.ok ? found.value : null;
}
