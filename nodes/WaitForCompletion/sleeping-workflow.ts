import type { GenericValue, IDataObject, INode, IWorkflowBase } from 'n8n-workflow';

import type { StatusCheck } from '../../client/watching/looks';
import { WAIT_TIMEOUT } from './fields';
import { napsWithin } from './suspend-schedule';

/**
 * The small workflow that a suspended wait sleeps in: a line of checks, each of which sleeps until the next one as long as
 * anything is unfinished, and then the collecting. It is a line rather than a loop because n8n can tell that it died in
 * the middle of a node only where that node had never run before. (Else it hands on, as if it were the outcome, what
 * was known at the last sleep.)
 */

/** What the small workflow has to know of each item: all of it resolved, for expressions of the step do not reach it. */
export interface SleepingItem extends IDataObject {
	generationId: GenericValue;
	downloadOutput: GenericValue;
	binaryPropertyName: GenericValue;
	/** What it came with in place of a generation, if so. */
	error?: string;
	error_code?: string;
	/** Those that were chosen. */
	options: IDataObject;
	/** When the step began, in milliseconds since the Unix epoch. */
	waitingSince: number;
	/** On the first item: the step's last status check of each generation, by id. */
	checks?: Record<string, StatusCheck>;
	/** Set by the check after which nothing is left to be waited for. */
	ended?: boolean;
}

/** When an item has waited long enough, in milliseconds since the Unix epoch; `NaN` where its timeout is no number. */
export function deadlineOf({ waitingSince, options }: SleepingItem): number {
	return waitingSince + Number(options.timeout || WAIT_TIMEOUT) * 1000;
}

/** When all of them have. An item whose timeout is no number fails by itself; the others are waited for. */
export function lastDeadline(items: SleepingItem[]): number {
	return Math.max(...items.map(deadlineOf).filter(Number.isFinite));
}

const NODES_IN_A_ROW = 6;

/** @param node the step that is to sleep */
export function sleepingWorkflow(node: INode, items: SleepingItem[]): IWorkflowBase {
	const line = [trigger, ...checks(node, items), collect(node, items)].map((each, index) => ({
		...each,
		id: `suspended-${index}`,
		position: [240 * (index % NODES_IN_A_ROW), 200 * Math.floor(index / NODES_IN_A_ROW)],
	}));
	return {
		name: `${node.name}: suspended wait`,
		nodes: [note(node), ...line],
		connections: inLine(line.map(({ name }) => name)),
		settings: {
			executionOrder: 'v1',
			// It belongs to the workflow that it is run by, whatever others of this n8n allow by default.
			callerPolicy: 'workflowsFromSameOwner',
			// Files that are fetched while it runs are kept with its execution, and its end has to outlast a crash.
			saveDataSuccessExecution: 'all',
			saveDataErrorExecution: 'all',
			// What n8n has of it after a crash is what it had when it fell asleep, which says that it is no result.
			saveExecutionProgress: false,
		},
		active: false,
	} as unknown as IWorkflowBase;
}

const trigger = {
	name: 'Generations',
	type: 'n8n-nodes-base.executeWorkflowTrigger',
	typeVersion: 1.1,
	parameters: { inputSource: 'passthrough' },
};

function checks(node: INode, items: SleepingItem[]) {
	const timeoutMs = lastDeadline(items) - items[0].waitingSince;
	return Array.from({ length: napsWithin(timeoutMs) }, (_, index) => ({
		...sameAs(node),
		name: `Check ${index + 1}`,
		onError: 'continueRegularOutput',
		parameters: { ...wait(items), mode: 'check', downloadOutput: false },
	}));
}

function collect(node: INode, items: SleepingItem[]) {
	return {
		...sameAs(node),
		name: 'Collect',
		// Older workflows have a switch in its place.
		onError: node.onError ?? (node.continueOnFail ? 'continueRegularOutput' : undefined),
		parameters: {
			...wait(items),
			mode: 'poll',
			downloadOutput: '={{ $json.downloadOutput }}',
			binaryPropertyName: '={{ $json.binaryPropertyName }}',
		},
	};
}

function sameAs({ type, typeVersion, credentials }: INode) {
	return { type, typeVersion, credentials };
}

/** The parameters that every node of it has, read from its items. */
function wait([{ options }]: SleepingItem[]) {
	const chosen = Object.keys(options).map((name) => [name, `={{ $json.options.${name} }}`]);
	return {
		generationId: '={{ $json.generationId }}',
		waitingSince: '={{ $json.waitingSince }}',
		options: Object.fromEntries(chosen) as Record<string, string>,
	};
}

/** For whoever finds its execution in the list. */
function note({ name }: INode) {
	return {
		id: 'suspended-note',
		name: 'What This Is',
		type: 'n8n-nodes-base.stickyNote',
		typeVersion: 1,
		position: [-40, -300],
		parameters: {
			width: 1400,
			height: 240,
			content: [
				`## The suspended wait of “${name}”`,
				'### This is not a workflow of yours: the step runs it while your execution sleeps. Each Check asks the service for the status of the generations, and sleeps until the next one while any of them is unfinished. Collect fetches what was made, and hands it to the step.',
				'### Nothing here is charged for, and it ends by itself. What a Check puts out while it sleeps is no result, and says so.',
			].join('\n\n'),
		},
	};
}

function inLine(names: string[]) {
	return Object.fromEntries(
		names
			.slice(1)
			.map((next, index) => [names[index], { main: [[{ node: next, type: 'main', index: 0 }]] }]),
	);
}
