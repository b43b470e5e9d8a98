import type { INode, IWorkflowBase } from 'n8n-workflow';

import { helperWorkflow, sameAs, type HelperNode } from '../helper-workflow';
import { ROLE_PARAMETER, type Role, type NodeProfile } from './state';

/**
 * The helper workflows of a step that sleeps. The step runs the first wave itself, and then starts the guard, which starts
 * the other waves: one execution that sleeps, does the work that is due (one wave), and sleeps again. After the last wave,
 * that execution starts the results workflow. Step, guard and waves each sleep until the execution that they started ends.
 *
 * If n8n dies during such a wave, it later wakes the guard with an error, and the guard starts the waves anew. If
 * n8n dies while results are fetched, the execution of the waves starts the results workflow again. If the execution of the
 * waves was awake and died, too, the guard starts a new one. The guard is awake only for a moment, when waves ended or died.
 * If n8n dies then, it later wakes the step with an error, which ends the step. A new run reuses what the data table has.
 *
 * Guard and waves are lines of nodes instead of loops, because n8n detects a crash in the middle of a node only if that node
 * had not run before in the execution. In a loop, n8n would then return the output of an earlier wave as the result.
 */

/** How often a guard can start the waves. It has one node for each start. Nodes that are not needed run, but do nothing. */
const STARTS = 60;

/** Maximum number of waves in one execution of the workflow of the waves. */
const WAVES = 30;

/** How often one execution of the waves can start the results workflow. It does so again only if that workflow died. */
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
 * @param hasFiles true if the output may have files. They belong to this workflow's execution, which n8n therefore keeps
 */
export function resultsWorkflow({ node, step }: HelperOf, hasFiles: boolean): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: results`,
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Results', 'deliver', {})]],
		saved: hasFiles ? 'files' : 'sleeps',
	});
}

/**
 * Stores the output of a guard's node under another type than `main`, so that n8n never uses it as the result of the step.
 * After a crash, n8n marks a sleeping execution as crashed for a few milliseconds. If n8n reads the guard's result at that
 * moment, n8n uses the sleeping node's `main` output as that result. The guard's next node still receives such an output.
 * The nodes of the waves do not need this setting, because the guard recognizes their messages.
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
