import type { FaultOrder } from '../../../sandbox/faults';

/** The load and the failures. */

/** Number of items in each execution. */
export const ITEMS = 5;
/** Maximum number of generations that the account may run at the same time. */
export const LIMIT = 25;
/** In a real n8n, all executions are started within this time. */
export const COME_IN_MS = 180_000;
/** Delay before an execution that did not succeed is run again. */
export const AGAIN_AFTER_MS = 10_000;

/** Interval at which workers are killed. */
export const KILL_EVERY_MS = 20_000;
/** Time until Redis is restarted. */
export const REDIS_AFTER_MS = 75_000;
/** Time until the service becomes unreachable, and for how long. */
export const LEAVE_AFTER_MS = 110_000;
export const LEAVE_FOR_MS = 20_000;

const always = { times: 'always' } as const;

/** Faults of the service and its storage that occur all the time. */
export const steadyTroubles: FaultOrder[] = [
	{ on: 'create', ...always, share: 0.02, action: { kind: 'loseAnswer' } },
	{ on: 'create', ...always, share: 0.03, action: { kind: 'error', code: 'server_error' } },
	{ on: 'download', ...always, share: 0.03, action: { kind: 'truncate', afterBytes: 1000 } },
];
