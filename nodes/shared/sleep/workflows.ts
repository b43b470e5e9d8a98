import type { INode, IWorkflowBase } from 'n8n-workflow';

import { helperWorkflow, sameAs, type HelperNode } from '../helper-workflow';
import { ROLE_PARAMETER, type Role, type NodeProfile } from './state';

/**
 * The helper workflows of a step that sleeps. A wave is the work that is due between two sleeps. The step runs the first
 * wave, and then starts the guard. The guard starts one execution for all other waves. After the last wave, that execution
 * starts the results workflow. Each of these executions sleeps until the execution that it started ends.
 *
 * If n8n dies during a later wave, n8n then wakes the guard with an error, and the guard starts a new execution of waves. If
 * n8n dies while results are fetched, the execution of the waves starts the results workflow again. If n8n dies in the short
 * time while the guard is awake, n8n later ends the step with an error. A new run then reuses what the data table has.
 *
 * Guard and waves are lines of nodes instead of loops: n8n overlooks a crash in the middle of a node that had run before in
 * the same execution. In a loop, n8n would therefore return the output of an earlier wave as the result.
 */

/** How often a guard can start the waves. It has one node for each start. Nodes that are not needed run, but do nothing. */
const STARTS = 60;

/** Maximum number of waves in one execution of the workflow of the waves. */
const WAVES = 30;

/** How often one execution of the waves can start the results workflow: once, and again whenever that workflow died. */
const COLLECTIONS = 3;

/** The step that a helper workflow is built for. */
export interface HelperOf {
	/** The step's node, or a node of a helper workflow: new nodes get its type and credentials. */
	node: INode;
	/** Name of the step. */
	step: string;
	noun: NodeProfile['noun'];
}

/** Builds the guard: the workflow that starts the waves. */
export function guardWorkflow({ node, step, noun }: HelperOf): IWorkflowBase {
	const line = times(STARTS, (number) => ({
		...helperNode(node, `Start ${number}`, 'startWaves'),
		...NO_RESULT,
	}));
	return helperWorkflow({
		name: `${step}: ${noun}`,
		// Without `onError`, a failure of the last node fails the guard, and n8n then ends the step with the same error.
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
 * @param hasFiles true if the output may have files. n8n then keeps this workflow's execution, as the files belong to it
 */
export function resultsWorkflow({ node, step }: HelperOf, hasFiles: boolean): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: results`,
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Results', 'deliver', {})]],
		saved: hasFiles ? 'files' : 'sleeps',
	});
}

/**
 * Makes n8n store a node's output under another type than `main`; the next node receives it all the same. Otherwise, after a
 * crash, n8n might take the `main` output of a sleeping node as the result of the step, because n8n marks sleeping
 * executions as crashed for a moment.
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

/** Values for the required parameters, without which n8n does not run a node. The real values are read from the step. */
function required({ parameters: { model } }: INode) {
	if (model === undefined) return { generationId: 'As in the step' };
	const id = typeof model === 'object' ? (model as { value?: unknown }).value : model;
	const value = typeof id === 'string' && !id.startsWith('=') ? id : 'by-expression';
	return { model: { __rl: true, mode: 'id', value }, prompt: 'As in the step' };
}

function times<T>(count: number, make: (number: number) => T): T[] {
	return Array.from({ length: count }, (_, index) => make(index + 1));
}
