import type { INode, IWorkflowBase } from 'n8n-workflow';

import { helperWorkflow, sameAs, type HelperNode } from '../helper-workflow';
import { ROLE_PARAMETER, type Role, type NodeProfile } from './state';

/**
 * The helper workflows of a step that sleeps. The step starts the guard, and the guard the waves: one execution that
 * sleeps, does the work that is due, and sleeps again. After the last wave, that execution starts the workflow that
 * fetches the results. The step and the guard sleep until the execution that they started has ended.
 *
 * If n8n dies during a wave, it wakes the guard with an error, and the guard starts waves again. If n8n dies while it
 * fetches results, the waves start that workflow again. If they were awake too, the guard restarts them. The guard is awake
 * only when waves have ended or died. If n8n dies then, it wakes the step with an error of its own, which ends it. The next
 * run of the same items reuses what the table has.
 *
 * Guard and waves are lines of nodes and not loops because of how n8n handles crashes. n8n detects a crash in the middle of a node
 * only if that node never ran before. In a loop, n8n would return the output of an earlier wave as the result.
 */

/** How often a guard can start waves. n8n runs through the nodes that are not needed. */
const STARTS = 60;

/** Maximum number of waves of one execution. */
const WAVES = 30;

/** Maximum number of executions that fetch the results, for one execution of the waves: another one follows if one dies. */
const COLLECTIONS = 3;

/** What a helper workflow is made for. */
export interface HelperOf {
	/** The step, or a node of a helper workflow. */
	node: INode;
	/** Name of the step. */
	step: string;
	noun: NodeProfile['noun'];
}

/** Builds the workflow that starts the waves. */
export function guardWorkflow({ node, step, noun }: HelperOf): IWorkflowBase {
	const line = times(STARTS, (number) => ({
		...helperNode(node, `Start ${number}`, 'startWaves'),
		...NO_RESULT,
	}));
	return helperWorkflow({
		name: `${step}: ${noun}`,
		// A failure is that of the step.
		lines: [[...line, { ...helperNode(node, 'Return', 'return'), onError: undefined }]],
		saved: 'sleeps',
	});
}

/** Builds the workflow of the waves. */
export function wavesWorkflow({ node, step }: HelperOf): IWorkflowBase {
	const waves = times(WAVES, (number) => helperNode(node, `Wave ${number}`, 'wave'));
	const collections = times(COLLECTIONS, (number) =>
		helperNode(node, number > 1 ? `Collect ${number}` : 'Collect', 'collect'),
	);
	return helperWorkflow({
		name: `${step}: waves`,
		lines: [
			[
				helperNode(node, 'Sleep', 'sleep'),
				...waves,
				...collections,
				helperNode(node, 'Report', 'report'),
			],
		],
		saved: 'sleeps',
	});
}

/**
 * Builds the workflow that fetches the results.
 *
 * @param hasFiles true if there may be files. They belong to its execution, which is therefore kept
 */
export function resultsWorkflow({ node, step }: HelperOf, hasFiles: boolean): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: results`,
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Results', 'deliver', {})]],
		saved: hasFiles ? 'files' : 'sleeps',
	});
}

/**
 * Keeps n8n from using the output of a sleeping guard as the result of the step. After a crash, n8n marks a sleeping
 * execution as crashed for a few milliseconds. If n8n reads the result of the guard at that moment, it takes the output
 * of the node that sleeps, but only output of the type `main`. The next node still receives its input. The nodes of the
 * waves do not need this: the guard recognizes their messages.
 */
const NO_RESULT: Partial<INode> = { rewireOutputLogTo: 'ai_memory' };

function helperNode(
	node: INode,
	name: string,
	role: Role,
	settings: Partial<INode> = { onError: 'continueRegularOutput' },
): HelperNode {
	const parameters = { [ROLE_PARAMETER]: role, ...required(node) };
	return { ...sameAs(node), name, parameters, ...settings };
}

/** n8n does not run a node whose required parameters are empty. */
function required({ parameters: { model } }: INode) {
	if (model === undefined) return { generationId: 'As in the step' };
	const id = typeof model === 'object' ? (model as { value?: unknown }).value : model;
	const value = typeof id === 'string' && !id.startsWith('=') ? id : 'by-expression';
	return { model: { __rl: true, mode: 'id', value }, prompt: 'As in the step' };
}

function times<T>(count: number, make: (number: number) => T): T[] {
	return Array.from({ length: count }, (_, index) => make(index + 1));
}
