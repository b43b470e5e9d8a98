import type { FaultOrder } from '../../../sandbox/faults';

/** The load and the troubles, in a real n8n and in virtual time alike. */

/** Items of an execution. */
export const ITEMS = 5;
/** Generations that the account may have at once. */
export const LIMIT = 25;
/** In a real n8n all executions come in over so long. */
export const COME_IN_MS = 180_000;
/** In virtual time one comes in so often, which is the pace of 300 in three minutes. */
export const ARRIVAL_MS = 600;
/** What did not end well is called for again after so long. */
export const AGAIN_AFTER_MS = 10_000;

/** A worker is killed so often. */
export const KILL_EVERY_MS = 20_000;
/** When Redis is restarted. */
export const REDIS_AFTER_MS = 75_000;
/** When the service goes away, and for how long. */
export const LEAVE_AFTER_MS = 110_000;
export const LEAVE_FOR_MS = 20_000;

const always = { times: 'always' } as const;

/** What goes wrong all the time, at the service and its storage. */
export const steadyTroubles: FaultOrder[] = [
	{ on: 'create', ...always, share: 0.02, action: { kind: 'loseAnswer' } },
	{ on: 'create', ...always, share: 0.03, action: { kind: 'error', code: 'server_error' } },
	{ on: 'download', ...always, share: 0.03, action: { kind: 'truncate', afterBytes: 1000 } },
];
