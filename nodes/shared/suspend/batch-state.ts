import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { wallClock } from '../http/clock';
import type { WaveState } from './wave-plan';

/** The state of a sleeping batch: what its waves pass on. It repeats generation ids, because rows can be deleted. */

/** How a node of a helper workflow of a batch is told what to do. The value of the hidden parameter. */
const ROLES = [
	'nextWave',
	'continueLater',
	'collect',
	'return',
	'sleep',
	'work',
	'deliver',
] as const;

export type BatchRole = (typeof ROLES)[number];

/** The role that the hidden parameter names; `null` for a step of a user's workflow. */
export function roleOf(parameter: unknown): BatchRole | null {
	return ROLES.find((role) => role === parameter) ?? null;
}

/** The hidden parameter of the creating nodes that names a role. */
export const ROLE_PARAMETER = 'batchRole';

/**
 * The version of what a sleeping batch stores: its state, the orders and reports of its waves, and the parameters of its
 * step. Raise it with any change of these that makes a difference to a reader. The package may be updated while a batch
 * sleeps, and the workers of one n8n may run different releases.
 */
export const STORED_VERSION = 1;

/** True if this release stored it, or one that stores the same. */
export function isCurrent(stored: object | null | undefined): boolean {
	return (stored as { v?: unknown } | null | undefined)?.v === STORED_VERSION;
}

/** What the executions of a batch must know of each other. */
export interface BatchState extends WaveState {
	/** `STORED_VERSION` of the release that stored it. */
	v: number;
	/** Id of the execution that the step belongs to. */
	batch: string;
	/** Name of the step. */
	step: string;
	/** The run index of the step: in a loop, each run has a batch of its own. */
	run: number;
	/** True if the user stopped the batch. */
	stopped: boolean;
	/** When the next wave begins, in milliseconds since the Unix epoch. */
	wakeAt: number;
	/** When the last wave ended. */
	sleepsFrom: number;
	/** Number of executions that were to fetch the results. */
	collections: number;
	/** Number of consecutive waves that ended without a report. */
	dead: number;
	/** The error of the last such wave, for the user. */
	lastDeath: string;
}

/** The result of a wave. */
export type WaveReport = WaveState & Pick<BatchState, 'v' | 'stopped' | 'wakeAt' | 'sleepsFrom'>;

/** How often the results are fetched, if the execution dies or the service is down. */
export const COLLECTIONS = 3;

/** A wave that dies this often in a row dies for a reason that does not pass. */
export const MOST_DEAD = 5;

/**
 * The shortest time to the next wave. The executions that wait for it must be stored first. n8n then wakes it within a
 * minute.
 */
const SHORTLY_MS = 5_000;

/** The time at which a wave begins that has work at once. */
export function shortly(): number {
	return wallClock.now() + SHORTLY_MS;
}

/** The failure of the step, as plain data. n8n would keep only the message of an error that a wave throws. */
export interface StepFailure {
	message: string;
	description: string | null;
	httpCode: string | null;
	context: IDataObject;
}

/** What the executions of a batch tell each other. */
export interface Message {
	/** To a supervisor: where to begin. */
	state?: BatchState;
	/** To a wave. */
	order?: BatchState;
	/** From a wave. */
	report?: WaveReport;
	/** From a wave or the workflow that fetches the results: the step no longer sleeps. */
	stopped?: true;
	/** From the workflow that fetches the results: the service is down. When to try again, in Unix milliseconds. */
	laterAt?: number;
	/** The failure of the step: from the workflow that fetches the results, or from a reader of another version. */
	failure?: StepFailure;
	/** From the workflow that fetches the results: the step has no output items. */
	empty?: true;
}

/** The only key of an item with a message. Output items of the step may have any other keys of the user. */
const MESSAGE = 'sleepingBatchMessage';

/** The item with a message. */
export function messageItem(message: Message): INodeExecutionData {
	return { json: { [MESSAGE]: message as unknown as IDataObject } };
}

/** The message in an item; `null` if it is an output item, or the error of a wave that died. */
export function messageIn({ json }: INodeExecutionData): Message | null {
	return Object.keys(json).join() === MESSAGE ? (json[MESSAGE] as Message) : null;
}

/** The latest time that a `Date` can hold, in milliseconds since the Unix epoch. */
const LAST_TIME = 8.64e15;

/** True for the state of a batch. Anything else is not from this package. */
export function isState(value: unknown): value is BatchState {
	if (typeof value !== 'object' || value === null) return false;
	const { batch, step, run, wakeAt } = value as Partial<BatchState>;
	const isTime = typeof wakeAt === 'number' && wakeAt >= 0 && wakeAt <= LAST_TIME;
	return typeof batch === 'string' && typeof step === 'string' && Number.isInteger(run) && isTime;
}

/** n8n's error message for a wave that died; `null` for any other item. */
export function deathIn({ json }: INodeExecutionData): string | null {
	return Object.keys(json).join() === 'error' ? String(json.error) : null;
}

/** Adds the result of a wave to the state of its batch. */
export function takeIn(state: BatchState, report: WaveReport): void {
	const settled = { ...state.settled, ...report.settled };
	const tried = { ...state.tried, ...report.tried };
	const known = { ...state.known, ...report.known };
	Object.assign(state, report, { settled, tried, known, dead: 0 });
}

/** Counts a wave that ended without a report. */
export function countDeath(state: BatchState, reason: string): void {
	state.lastDeath = reason;
	state.dead++;
	state.sleepsFrom = wallClock.now();
	state.wakeAt = shortly();
	// The user stopped the wave itself.
	if (/cancell?ed manually/i.test(reason)) state.stopped = true;
	if (state.stopped || state.dead >= MOST_DEAD) state.over = true;
}
