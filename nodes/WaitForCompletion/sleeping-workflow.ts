import type { GenericValue, IDataObject, INode, IWorkflowBase } from 'n8n-workflow';

import type { GenerationErrorFields } from '../../client/api/errors';
import type { StatusCheck } from '../../client/watch/status-requests';
import { helperWorkflow, sameAs, type HelperNode } from '../shared/helper-workflow';
import { WAIT_TIMEOUT } from './fields';
import { sleepsWithin } from './suspend-schedule';

/**
 * The helper workflow of a suspended wait: a chain of checks, then the collecting. Each check sleeps until the next one
 * while any generation is unfinished. Once all have ended, an If node leads to the collecting, and the other checks do
 * not run.
 *
 * It is a chain and not a loop because of how n8n handles crashes. n8n detects a crash in the middle of a node
 * only if that node never ran before. In a loop, n8n would return the output of the last sleep as the result.
 */

/**
 * The data of one item for the helper workflow. All values are resolved, because expressions of the step do not
 * work there.
 */
export interface SleepingItem extends IDataObject {
	generationId: GenericValue;
	mode: GenericValue;
	downloadOutput: GenericValue;
	/** Why the item is not waited for. */
	rejected?: GenerationErrorFields & IDataObject;
	/** The options and run options that the user added. */
	options: IDataObject;
	runOptions: IDataObject;
	/** The fields of the step's input item, if they are returned too. */
	otherFields?: IDataObject;
	/** When the wait started, in milliseconds since the Unix epoch. */
	waitingSince: number;
	/** On the first item only: the step's last status check of each generation, by id. */
	checks?: Record<string, StatusCheck>;
	/** Set by the check that found nothing left to wait for. */
	ended?: boolean;
}

const ENDED = 'Ended';
const COLLECT = 'Collect';

/** The deadline of an item, in milliseconds since the Unix epoch; `NaN` if its timeout is not a number. */
export function deadlineOf({ waitingSince, runOptions }: SleepingItem): number {
	return waitingSince + Number(runOptions.timeout || WAIT_TIMEOUT) * 1000;
}

/**
 * The latest deadline of the items. An item whose timeout is not a number is ignored here, and fails when it is
 * validated.
 */
export function lastDeadline(items: SleepingItem[]): number {
	return Math.max(...items.map(deadlineOf).filter(Number.isFinite));
}

/**
 * Builds the helper workflow of a suspended wait.
 *
 * @param node the step that suspends
 * @param items the step's items, at least one
 */
export function sleepingWorkflow(node: INode, items: SleepingItem[]): IWorkflowBase {
	return helperWorkflow({
		name: `${node.name}: suspended wait`,
		note: [
			`## The suspended wait of “${node.name}”`,
			'### This is not a workflow of yours: the step runs it while your execution sleeps. Each Check reads the status of the generations, and sleeps until the next one while any of them is unfinished. Then Collect fetches the results and returns them to the step. Checks that were not needed are gray.',
			'### It charges nothing and ends by itself. The output of a Check that sleeps is not a result.',
		],
		lines: [[...checks(node, items), collect(node, items)]],
		branches: (name) => (name.startsWith(ENDED) ? COLLECT : null),
		saved: 'result',
	});
}

function checks(node: INode, items: SleepingItem[]): HelperNode[] {
	const timeoutMs = lastDeadline(items) - items[0].waitingSince;
	const numbers = Array.from({ length: sleepsWithin(timeoutMs) }, (_, index) => index + 1);
	return numbers.flatMap((number): HelperNode[] => [
		{
			...sameAs(node),
			name: `Check ${number}`,
			onError: 'continueRegularOutput',
			parameters: { ...wait(items), mode: 'check', downloadOutput: false },
		},
		...(number < numbers.length ? [haveEnded(number)] : []),
	]);
}

/** The If node after a check. Its first output leads to the collecting. */
function haveEnded(number: number): HelperNode {
	const condition = { value1: '={{ $json.ended === true }}', operation: 'equal', value2: true };
	return {
		name: `${ENDED} ${number}?`,
		type: 'n8n-nodes-base.if',
		typeVersion: 1,
		parameters: { conditions: { boolean: [condition] } },
	};
}

function collect(node: INode, items: SleepingItem[]): HelperNode {
	return {
		...sameAs(node),
		name: COLLECT,
		// Older workflows set `continueOnFail` instead.
		onError: node.onError ?? (node.continueOnFail ? 'continueRegularOutput' : undefined),
		parameters: {
			...wait(items),
			// The error of an invalid mode is reported.
			mode: '={{ $json.mode === "suspend" ? "poll" : $json.mode }}',
			downloadOutput: '={{ $json.downloadOutput }}',
		},
	};
}

/** The parameters that all nodes of the helper workflow share, read from their items. */
function wait([first]: SleepingItem[]) {
	return {
		generationId: '={{ $json.generationId }}',
		waitingSince: '={{ $json.waitingSince }}',
		options: fromItem(first, 'options'),
		runOptions: fromItem(first, 'runOptions'),
	};
}

/** One expression for each option: n8n ignores an expression for a whole collection. */
function fromItem(item: SleepingItem, collection: 'options' | 'runOptions') {
	const names = Object.keys(item[collection]);
	return Object.fromEntries(names.map((name) => [name, `={{ $json.${collection}.${name} }}`]));
}
