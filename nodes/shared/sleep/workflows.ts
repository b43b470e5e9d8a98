import type { INode, IWorkflowBase } from 'n8n-workflow';

import { helperWorkflow, sameAs, type HelperNode } from '../helper-workflow';
import { COLLECTIONS, ROLE_PARAMETER, type Role } from './state';

/**
 * The helper workflows of a step that sleeps. The step starts the guard, the guard a supervisor, and the supervisor one
 * wave after the other. Each of them sleeps until the one that it started has ended.
 *
 * If n8n dies during a wave, n8n wakes the supervisor with an error, and the supervisor starts the next wave. The
 * supervisor is awake between two waves. If n8n dies then, n8n wakes the guard, and the guard starts the next supervisor.
 * The guard is awake only when a supervisor has ended. If n8n dies in one of these moments, n8n wakes the step with an
 * error of its own, which ends it. The next run of the same items reuses what the table has.
 *
 * Guard and supervisor are lines of nodes and not loops because of how n8n handles crashes. n8n detects a crash in the middle of a node
 * only if that node never ran before. In a loop, n8n would return the output of an earlier wave as the result.
 */

/** Number of supervisors of a guard. n8n runs through those that are not needed. */
const SUPERVISORS = 30;

/** Number of waves of a supervisor. */
const WAVES = 60;

/** What a helper workflow is made for. */
export interface HelperOf {
	/** The step, or a node of a helper workflow. */
	node: INode;
	/** Name of the step. */
	step: string;
	noun: Noun;
}

/** What a step that sleeps is called in texts for the user. */
export type Noun = 'sleeping batch' | 'suspended wait';

const NOT_YOURS = 'This is not a workflow of yours: the step runs it while your execution sleeps.';

/** Builds the workflow that starts the supervisors. */
export function guardWorkflow({ node, step, noun }: HelperOf): IWorkflowBase {
	const line = times(SUPERVISORS, (number) => ({
		...helperNode(node, `Supervisor ${number}`, 'supervise'),
		...NO_RESULT,
	}));
	return helperWorkflow({
		name: `${step}: ${noun}`,
		note: [
			`## The ${noun} of “${step}”`,
			`### ${NOT_YOURS} It starts a supervisor, and another one if that one is killed. To end the ${noun}, stop the execution of your own workflow. This execution then ends by itself.`,
		],
		// A failure is that of the step.
		lines: [[...line, { ...helperNode(node, 'Return', 'return'), onError: undefined }]],
		saved: 'sleeps',
	});
}

/** Builds the workflow that starts the waves. */
export function supervisorWorkflow({ node, step, noun }: HelperOf): IWorkflowBase {
	const waves = times(WAVES, (number) => helperNode(node, `Wave ${number}`, 'nextWave'));
	const collections = times(COLLECTIONS, (number) =>
		helperNode(node, number > 1 ? `Collect ${number}` : 'Collect', 'collect'),
	);
	return helperWorkflow({
		name: `${step}: supervisor`,
		note: [
			`## A supervisor of the ${noun} of “${step}”`,
			`### ${NOT_YOURS} Each wave is an execution of its own. This workflow sleeps between them. After a crash of n8n, the next wave continues. Waves that were not needed did nothing.`,
		],
		lines: [[...waves, ...collections, helperNode(node, 'Report', 'report')]],
		saved: 'sleeps',
	});
}

/** Builds the workflow of one wave. */
export function waveWorkflow({ node, step, noun }: HelperOf): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: wave`,
		note: [
			`## One wave of the ${noun} of “${step}”`,
			'### It sleeps until generations are due to end. Then it checks them, creates the next ones if there are any, and ends. n8n deletes this execution when it succeeds.',
		],
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Work', 'work', {})]],
		saved: 'sleeps',
	});
}

/** Builds the workflow that fetches the results. Its execution owns the files, and is kept if there are any. */
export function resultsWorkflow({ node, step, noun }: HelperOf): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: results`,
		note: [
			`## The results of the ${noun} of “${step}”`,
			'### This workflow fetched the generations for your execution, and holds their files. It creates none, and charges nothing.',
		],
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Results', 'deliver', {})]],
		saved: 'result',
	});
}

/**
 * Keeps n8n from using the output of a sleeping guard as the result of the step. After a crash, n8n marks a sleeping
 * execution as crashed for a few milliseconds. If n8n reads the result of the guard at that moment, it takes the output
 * of the node that sleeps, but only output of the type `main`. The next node still receives its input. The nodes of a
 * supervisor do not need this: the guard recognizes their messages.
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
