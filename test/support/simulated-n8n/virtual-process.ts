import crypto from 'node:crypto';

import { requestClock, wallClock } from '../../../nodes/shared/http/clock';
import { uuidFrom, type Random } from '../../../sandbox/basics/random';
import type { SimulatedN8n } from './n8n';

/**
 * Lets the nodes run in the virtual time of a simulated n8n: replaces their clocks, and everything random.
 *
 * @param processOf the simulated n8n
 * @returns a function that undoes it
 */
export function inVirtualTime(processOf: () => SimulatedN8n, random: Random): () => void {
	const { now, sleep } = wallClock;
	const { now: requestNow, sleep: requestSleep } = requestClock;
	const { timeout } = AbortSignal;
	const { random: mathRandom } = Math;
	const { randomUUID } = crypto;
	const virtual = {
		now: () => processOf().time.now(),
		sleep: async (ms: number, signal?: AbortSignal) => await processOf().life.sleep(ms, signal),
	};
	Object.assign(wallClock, virtual);
	Object.assign(requestClock, virtual);
	AbortSignal.timeout = (ms) => processOf().life.timeout(ms);
	Math.random = random;
	crypto.randomUUID = () => uuidFrom(random) as ReturnType<typeof randomUUID>;
	return () => {
		Object.assign(wallClock, { now, sleep });
		Object.assign(requestClock, { now: requestNow, sleep: requestSleep });
		AbortSignal.timeout = timeout;
		Math.random = mathRandom;
		crypto.randomUUID = randomUUID;
	};
}
