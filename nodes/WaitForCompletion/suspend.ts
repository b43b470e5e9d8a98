import {
	summarizeDynamicCredentialsUsage,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type IWorkflowBase,
} from 'n8n-workflow';

import { wallClock } from '../shared/clock';
import { hasErrorOutput, runsAsTool } from '../shared/execution';
import { optionsOf } from '../shared/parameters';
import { hint } from '../shared/report';
import type { Suspension } from '../shared/step';
import { WAIT_TIMEOUT } from './fields';

/**
 * The suspended wait. A node that puts its execution to sleep is not run again when it wakes (n8n hands its input on),
 * so the looking is done by a small workflow of its own: look, and while something is unfinished sleep and look again.
 * The step's execution sleeps in n8n's database until that workflow has ended, and hands on what it came to.
 */

/** A sleep shorter than this wakes late: n8n looks for sleepers every minute. */
const SHORTEST_SLEEP_SECONDS = 65;
const LONGEST_SLEEP_SECONDS = 600;

/** What the small workflow has to know of each item: all of it resolved, for expressions of the step do not reach it. */
interface SleepingItem {
	generationId: string;
	downloadOutput: boolean;
	binaryPropertyName: string;
	options: {
		fileName: string;
		onTimeout: string;
		timeout: number;
		maxConcurrent: number;
		pollInterval: number;
	};
	/** Milliseconds since the Unix epoch. */
	waitingSince: number;
}

/**
 * How the step is to suspend. `undefined` where its mode is another, or where it has to poll: then a hint says why.
 */
export function suspensionOf(context: IExecuteFunctions): Suspension | undefined {
	if (context.getNodeParameter('mode', 0) !== 'suspend') return undefined;
	const reason = whyNotSuspend(context);
	if (reason !== null) {
		hint(context, `Polled instead of suspending, because ${reason}`);
		return undefined;
	}
	const waitingSince = wallClock.now();
	return {
		afterMs: SHORTEST_SLEEP_SECONDS * 1000,
		sleep: async () => {
			const items = context
				.getInputData()
				.map((_, itemIndex) => sleepingItem(context, itemIndex, waitingSince));
			return await sleepUntilEnded(context, items);
		},
	};
}

function sleepingItem(
	context: IExecuteFunctions,
	itemIndex: number,
	waitingSince: number,
): SleepingItem {
	const parameter = (name: string, fallback: string | boolean) =>
		context.getNodeParameter(name, itemIndex, fallback);
	const options = optionsOf(context, itemIndex);
	return {
		generationId: String(parameter('generationId', '') ?? ''),
		downloadOutput: String(parameter('downloadOutput', true)) === 'true',
		binaryPropertyName: String(parameter('binaryPropertyName', 'data')),
		options: {
			fileName: String(options.fileName ?? ''),
			onTimeout: String(options.onTimeout ?? 'error'),
			timeout: Number(options.timeout ?? WAIT_TIMEOUT),
			maxConcurrent: Number(options.maxConcurrent ?? 10),
			pollInterval: Number(options.pollInterval ?? 3),
		},
		waitingSince,
	};
}

/** Why a step cannot suspend and has to poll; `null` where it can. */
function whyNotSuspend(context: IExecuteFunctions): string | null {
	if (!wakesWithOutcome()) return 'n8n hands on what a sleep has come to only from release 2.31 on';
	if (runsAsTool(context)) return 'a tool of an AI agent cannot sleep';
	if (!isSaved(context.getWorkflow().id) || !isSaved(context.getExecutionId())) {
		return 'the workflow has not been saved';
	}
	if (hasErrorOutput(context))
		return 'n8n cannot route failed items to the error output after a sleep';
	return null;
}

/**
 * Whether a step that was put to sleep gets what its small workflow came to, its error too. n8n 1 hands on the step's
 * input instead, and n8n 2 did so after an error at first. No release tells a node its version, so this looks for what
 * n8n itself uses where it hands the outcome over (since 2.31).
 */
function wakesWithOutcome(): boolean {
	return typeof summarizeDynamicCredentialsUsage === 'function';
}

/** n8n names what has no id yet in capitals between underscores. */
function isSaved(id: string | undefined): boolean {
	return id !== undefined && id !== '' && !/^__[A-Z]+__$/.test(id);
}

/**
 * Puts the execution to sleep until all generations have ended or their timeouts have passed.
 *
 * @returns what the small workflow came to where it did not have to sleep; else n8n drops it
 */
async function sleepUntilEnded(
	context: IExecuteFunctions,
	items: SleepingItem[],
): Promise<INodeExecutionData[][]> {
	const { id: workflowId = '' } = context.getWorkflow();
	const { data } = await context.executeWorkflow(
		{ code: sleepingWorkflow(context.getNode(), items) },
		items.map((json) => ({ json: { ...json } })),
		undefined,
		{
			parentExecution: { executionId: context.getExecutionId(), workflowId, shouldResume: true },
			executionMode: context.getMode(),
		},
	);
	return [data?.[0] ?? []];
}

/** Look, and again after a sleep while anything is unfinished and in time; then collect as the step was asked to. */
function sleepingWorkflow(node: INode, items: SleepingItem[]): IWorkflowBase {
	const deadlines = items.map(({ waitingSince, options }) => waitingSince + options.timeout * 1000);
	// An item whose timeout is no number fails by itself; the others are waited for.
	const lastDeadline = Math.max(...deadlines.filter(Number.isFinite));
	const secondsLeft = `(${lastDeadline} - $now.toMillis()) / 1000`;
	const own = { type: node.type, typeVersion: node.typeVersion, credentials: node.credentials };
	const item = (path: string) => `={{ $('Generations').all()[$itemIndex].json.${path} }}`;
	const nodes: Array<Partial<INode>> = [
		{
			name: 'Generations',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		},
		{
			...own,
			name: 'Look',
			onError: 'continueRegularOutput',
			parameters: {
				generationId: item('generationId'),
				mode: 'check',
				downloadOutput: false,
				options: { maxConcurrent: item('options.maxConcurrent') },
			},
		},
		{
			name: 'Ended',
			type: 'n8n-nodes-base.if',
			typeVersion: 2.2,
			parameters: {
				conditions: {
					combinator: 'and',
					options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
					conditions: [
						{
							id: 'ended',
							leftValue: `={{ ${secondsLeft} <= 0 || $input.all().every(({ json }) => json.error || ['completed', 'failed'].includes(json.status)) }}`,
							rightValue: '',
							operator: { type: 'boolean', operation: 'true', singleValue: true },
						},
					],
				},
				options: {},
			},
		},
		{
			name: 'Sleep',
			type: 'n8n-nodes-base.wait',
			typeVersion: 1.1,
			parameters: {
				resume: 'timeInterval',
				amount: `={{ Math.ceil(Math.max(${SHORTEST_SLEEP_SECONDS}, Math.min(${SHORTEST_SLEEP_SECONDS} * 1.5 ** $runIndex, ${LONGEST_SLEEP_SECONDS}, ${secondsLeft}))) }}`,
				unit: 'seconds',
			},
		},
		{
			...own,
			name: 'Collect',
			onError: node.onError,
			parameters: {
				generationId: item('generationId'),
				mode: 'poll',
				downloadOutput: item('downloadOutput'),
				binaryPropertyName: item('binaryPropertyName'),
				waitingSince: item('waitingSince'),
				options: {
					fileName: item('options.fileName'),
					maxConcurrent: item('options.maxConcurrent'),
					onTimeout: item('options.onTimeout'),
					pollInterval: item('options.pollInterval'),
					timeout: item('options.timeout'),
				},
			},
		},
	];
	return {
		name: `${node.name}: suspended wait`,
		nodes: nodes.map((each, index) => ({
			id: `suspended-${index}`,
			position: [220 * index, 0],
			...each,
		})),
		connections: {
			Generations: linkTo('Look'),
			Look: linkTo('Ended'),
			Ended: linkTo('Collect', 'Sleep'),
			Sleep: linkTo('Look'),
		},
		// Files that are fetched while it runs are kept with its execution.
		settings: { executionOrder: 'v1', saveDataSuccessExecution: 'all' },
		active: false,
	} as unknown as IWorkflowBase;
}

/** One connection from each output in turn. */
function linkTo(...targets: string[]) {
	return { main: targets.map((node) => [{ node, type: 'main', index: 0 }]) };
}
