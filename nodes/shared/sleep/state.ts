import type { IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Memory } from '../../../client/jobs/memory';
import type { PlanItem } from '../form/plan-items';
import { wallClock } from '../http/clock';
import type { Step } from '../step';

/** The state of a step that sleeps, which its helper executions pass on to each other. */

/** A role says what a node of a helper workflow does. The node's hidden parameter `ROLE_PARAMETER` contains the role. */
const ROLES = [
	// Roles in the guard, the helper workflow that starts the waves. A wave is the work between two sleeps.
	'startWaves',
	'return',
	// Roles in the workflow of the waves, and in the workflow that fetches the results.
	'sleep',
	'wave',
	'collect',
	'report',
	'deliver',
] as const;

export type Role = (typeof ROLES)[number];

/** Returns the role in the hidden parameter; `null` if that contains no role, or one that this release does not know. */
export function roleOf(parameter: unknown): Role | null {
	return ROLES.find((role) => role === parameter) ?? null;
}

/** The hidden parameter that names a role. */
export const ROLE_PARAMETER = 'batchRole';

/**
 * The version of what a step that sleeps stores: its state, the roles of its helper workflows, and its parameters. Raise
 * the version with any change of their content or meaning. Otherwise another release may misread what this one has stored,
 * for example if the user updates the package while a step sleeps.
 */
export const STORED_VERSION = 8;

/** What differs between the nodes whose steps can sleep. */
export interface NodeProfile {
	/** What a sleep of the node is called in texts for the user. */
	noun: 'sleeping batch' | 'suspended wait';
	/** True if the node creates no generations, so that nothing can be charged. */
	createsNothing: boolean;
	/** Tells the user how to go on if a step failed after a sleep. n8n's Retry does not help: it would not run the step. */
	howToGoOn: string;
	fields: INodeProperties[];
	/** Reads and validates one item's parameters; throws `InvalidInputError`. */
	plan: PlanItem;
}

/** The state of a step that sleeps: all that a helper execution must know to continue the step's work. */
export interface SleepState {
	/** `STORED_VERSION` of the release that stored this state. */
	v: number;
	/** Id of the execution that the step belongs to. */
	execution: string;
	/** Name of the step. */
	step: string;
	/** The run index of the step: in a loop, each run sleeps separately. */
	run: number;
	/** True if the output of the step may have files. */
	hasFiles: boolean;
	/** What each wave passes on to the next one. */
	memory: Memory;
	/** True if there is no further wave. The results are then fetched, unless the step was stopped or given up. */
	over: boolean;
	/** True if the user stopped the step or one of its helper executions. */
	stopped: boolean;
	/** When the next wave begins, in milliseconds since the Unix epoch. After the last one: when results may be fetched. */
	wakeAt: number;
	/** The number of failures in a row: waves that failed, and helper executions that ended without a report. */
	dead: number;
	/** The error message of the latest of these failures, to be shown to the user. */
	lastDeath: string;
	/** `execution` sleeps at its node `node` until the helper execution that has this state ends. */
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

/** The shortest pause before a wave. n8n needs it to store the executions that wait for the wave as asleep. */
const SHORTLY_MS = 5_000;

/** The earliest time at which the next wave may begin, in milliseconds since the Unix epoch. */
export function shortly(): number {
	return wallClock.now() + SHORTLY_MS;
}

/** The error of the step, as plain data. If a helper workflow threw this error, n8n would pass on only the message. */
export interface StepFailure {
	message: string;
	description: string | null;
	httpCode: string | null;
	context: IDataObject;
}

/** What the executions of a step that sleeps tell each other. */
export interface Message {
	/** To a helper execution that starts: the state from which it continues. */
	state?: SleepState;
	/** From the execution of the waves, when it ends: its last state. */
	report?: SleepState;
	/** The step no longer sleeps, or the helper execution that sends this message was stopped. */
	stopped?: true;
	/** From the workflow that fetches the results: the failure with which the step must end. */
	failure?: StepFailure;
	/**
	 * The node with this output lets its execution sleep. When the execution wakes, n8n replaces the output, for example with
	 * the result of the helper execution that the node started. If the next node gets this message, n8n lost that result.
	 */
	asleep?: true;
	/** From the workflow that fetches the results: the step has no output items. */
	empty?: true;
}

/** The only key of an item that is a message. The key tells messages from output items, which go through the same nodes. */
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

/** The message in an item; `null` for an output item, and for the error of a helper execution that died. */
export function messageIn({ json }: INodeExecutionData): Message | null {
	return Object.keys(json).join() === MESSAGE ? (json[MESSAGE] as Message) : null;
}

/** True if the value is the state of a step that sleeps, stored by any release of this package. */
export function isState(value: unknown): value is SleepState {
	if (typeof value !== 'object' || value === null) return false;
	const { execution, step, run } = value as Partial<SleepState>;
	return typeof execution === 'string' && typeof step === 'string' && typeof run === 'number';
}

/** The only key of the item that n8n's crash recovery puts in place of an output that was not stored. */
const LOST_OUTPUT = 'isArtificialRecoveredEventItem';

/** Returns why a helper execution died: n8n's error message, or that the result is lost. `null` for any other item. */
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

/** Updates the state with a report. A report without `dead`, such as that of a successful wave, sets `dead` to 0. */
export function takeIn(state: SleepState, report: Partial<SleepState>): void {
	Object.assign(state, { dead: 0, lastDeath: '' }, report);
}

/** Counts a wave that failed, or a helper execution that ended without a report. */
export function countDeath(state: SleepState, reason: string): void {
	state.lastDeath = reason;
	state.dead++;
	state.wakeAt = shortly();
	// This is n8n's error message for a helper execution that the user has stopped.
	if (/cancell?ed manually/i.test(reason)) state.stopped = true;
	if (state.stopped || state.dead >= MOST_DEAD) state.over = true;
}
