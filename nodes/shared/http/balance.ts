import type { IExecuteFunctions } from 'n8n-workflow';

import { ServiceClient } from '../../../client/api/client';
import { attempt, withTimeout } from '../../../client/async';
import { cancelSignal } from '../execution';
import { requestClock, wallClock } from './clock';
import { connect } from './transport';

/** Maximum time for a balance that is only shown in a hint, in milliseconds. */
const TIMEOUT_MS = 3_000;

/**
 * Reads the balance for a hint (spec 4.5), once and without retries.
 *
 * @returns credits; `null` if the balance could not be read in time. Never throws.
 */
export async function glanceAtBalance(context: IExecuteFunctions): Promise<number | null> {
	const read = async (signal: AbortSignal) => {
		const ports = { clock: wallClock, random: Math.random, signal, maxRetries: 0 };
		return (await new ServiceClient({ ...ports, send: connect(context) }).balance()).balance;
	};
	const found = await attempt(
		async () => await withTimeout(requestClock, TIMEOUT_MS, cancelSignal(context), read),
	);
	return found.ok ? (found.value?.value ?? null) : null;
}
