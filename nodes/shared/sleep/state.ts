import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Memory } from '../../../client/jobs/memory';
import type { PlanItem } from '../form/plan-items';
import { wallClock } from '../http/clock';
import type { Step } from '../step';

/** The state of a step that sleeps, which its helper executions pass on to each other. */

/** What a node of a helper workflow does: the values of its hidden parameter. */
const ROLES = [
	// In the guard, the helper workflow that starts the waves. A wave is the work between two sleeps.
	'startWaves',
	'return',
	// In the workflow of the waves, and in the one that fetches the results.
	'sleep',
	'wave',
	'collect',
	'report',
	'deliver',
] as const;

export type Role = (typeof ROLES)[number];

/** The role that the hidden parameter names; `null` for none, and for one that this release does not know. */
export function roleOf(parameter: unknown): Role | null {
	return ROLES.find((role) => role === parameter) ?? null;
}

/** The hidden parameter that names a role. */
export const ROLE_PARAMETER = 'batchRole';

/**
 * The version of what a step that sleeps stores: its state, the roles of its helper workflows, and its parameters. Raise
 * it with any change of these that the reading code would notice. The package may be updated while a step sleeps, and the
 * workers of one n8n may run different releases.
 */
export const STORED_VERSION = 8;

/** What differs between the nodes whose steps can sleep. */
export interface NodeProfile {
	/** What its sleep is called in texts for the user. */
	noun: 'sleeping batch' | 'suspended wait';
	/** True if the node creates no generations, so that nothing can be charged. */
	createsNothing: boolean;
	/** Advice for the user when a step has failed after a sleep: n8n's Retry does not run it again. */
	howToGoOn: string;
	fields: INodeProperties[];
	/** Reads and validates one item's parameters; throws `InvalidInputError`. */
	plan: PlanItem;
}

/** What the executions of a step that sleeps must know of each other. */
export interface SleepState {
	/** `STORED_VERSION` of the release that stored it. */
	v: number;
	/** Id of the execution that the step belongs to. */
	execution: string;
	/** Name of the step. */
	step: string;
	/** The run index of the step: in a loop, each run sleeps separately. */
	run: number;
	/** True if the output may have files. */
	hasFiles: boolean;
	/** What the runs of the step remember. */
	memory: Memory;
	/** True if there is no further wave. The results are then fetched, unless the step was stopped or given up. */
	over: boolean;
	/** True if the user stopped the step or one of its helper executions. */
	stopped: boolean;
	/** When the next wave begins, in milliseconds since the Unix epoch. After the last one: when results may be fetched. */
	wakeAt: number;
	/** How many waves have failed, or helper executions ended without a report, in a row. */
	dead: number;
	/** The error of the last of these failures, for the user. */
	lastDeath: string;
	/** The execution that sleeps until the helper execution with this state ends, and the node at which it sleeps. */
	awaitedBy?: { execution: string; node: string };
}

/** After this many failures in a row (`SleepState.dead`), the step is given up: trying again would not help. */
export const MOST_DEAD = 5;

/**
 * The state of a step that falls asleep.
 *
 * @param run the run index of the step
 * @param hasFiles true if the output may have files
 */
export function newState(step: Step, run: number, memory: Memory, hasFiles: boolean): SleepState {
	return {
		v: STORED_VERSION,
		execution: step.execution,
		step: step.node.name,
		run,
		hasFiles,
		memory,
		over: false,
		stopped: false,
		wakeAt: 0,
		dead: 0,
		lastDeath: '',
	};
}

/** The shortest time until the next wave, in which n8n must store that the executions that wait for this wave sleep. */
const SHORTLY_MS = 5_000;

/** When a wave should begin that already has work to do, in milliseconds since the Unix epoch. */
export function shortly(): number {
	return wallClock.now() + SHORTLY_MS;
}

/** The error of the step, as plain data. If a helper workflow threw the error itself, n8n would pass on only its message. */
export interface StepFailure {
	message: string;
	description: string | null;
	httpCode: string | null;
	context: IDataObject;
}

/** What the executions of a step that sleeps tell each other. */
export interface Message {
	/** To a helper execution: where to begin. */
	state?: SleepState;
	/** From the waves: where they ended. */
	report?: SleepState;
	/** The step no longer sleeps, or the sender was stopped. */
	stopped?: true;
	/** From the workflow that fetches the results: the failure of the step. */
	failure?: StepFailure;
	/**
	 * The sender sleeps. When it wakes, n8n replaces this message by the node's input or, if the node started a helper
	 * execution, by the result of that. A node that receives this message knows that n8n lost the result.
	 */
	asleep?: true;
	/** From the workflow that fetches the results: the step has no output items. */
	empty?: true;
}

/** An item with only this key is a message. Users choose the keys of output items, which go through the same nodes. */
const MESSAGE = 'sleepingBatchMessage';

/** The item with a message. */
export function messageItem(message: Message): INodeExecutionData {
	return { json: { [MESSAGE]: message as unknown as IDataObject } };
}

/** The output of a node that has nothing to do. */
export function nothing(): INodeExecutionData[][] {
	return [[messageItem({})]];
}

/** The output of a node that lets its execution sleep. */
export function asleep(): INodeExecutionData[][] {
	return [[messageItem({ asleep: true })]];
}

/** The message in an item; `null` if it is an output item, or the error of a helper execution that died. */
export function messageIn({ json }: INodeExecutionData): Message | null {
	return Object.keys(json).join() === MESSAGE ? (json[MESSAGE] as Message) : null;
}

/** True for the state of a step that sleeps, from any release. Any other value was not made by this package. */
export function isState(value: unknown): value is SleepState {
	if (typeof value !== 'object' || value === null) return false;
	const { execution, step, run } = value as Partial<SleepState>;
	return typeof execution === 'string' && typeof step === 'string' && typeof run === 'number';
}

/** The only key of the item that n8n's crash recovery puts in place of an output that was not stored. */
const LOST_OUTPUT = 'isArtificialRecoveredEventItem';

/** Why a helper execution died: n8n's error message, or that its output was not stored. `null` for any other item. */
export function deathIn({ json }: INodeExecutionData): string | null {
	switch (Object.keys(json).join()) {
		case 'error':
			return String(json.error);
		case LOST_OUTPUT:
			return 'n8n lost the result';
		default:
			return null;
	}
}

/** Updates the state with the report of a wave, or with the state of another helper execution. */
export function takeIn(state: SleepState, report: Partial<SleepState>): void {
	Object.assign(state, { dead: 0, lastDeath: '' }, report);
}

/** Counts a wave that failed, or a helper execution that ended without a report. */
export function countDeath(state: SleepState, reason: string): void {
	state.lastDeath = reason;
	state.dead++;
	state.wakeAt = shortly();
	// n8n's error message if the user has stopped the helper execution.
	if (/cancell?ed manually/i.test(reason)) state.stopped = true;
	if (state.stopped || state.dead >= MOST_DEAD) state.over = true;
}
