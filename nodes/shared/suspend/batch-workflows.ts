import type { INode, IWorkflowBase } from 'n8n-workflow';

import { helperWorkflow, sameAs, type HelperNode } from '../helper-workflow';
import { COLLECTIONS, ROLE_PARAMETER, type BatchRole } from './batch-state';

/**
 * The helper workflows of a sleeping batch.
 *
 * The supervisor starts one wave after the other, and is awake for milliseconds only, except while n8n starts
 * (crash-recovery.ts). Each wave is an execution of its own. If n8n dies during a wave, n8n wakes the supervisor with an
 * error, and the supervisor starts the next wave.
 *
 * The supervisor is a line of nodes and not a loop because of how n8n handles crashes. n8n detects a crash in the
 * middle of a node only if that node never ran before. In a loop, n8n would return the output of an earlier wave as
 * the result.
 */

/** Number of waves in a supervisor. Then it starts another supervisor, and sleeps until that one ends. */
const WAVES = 60;

/**
 * Builds the workflow that starts the waves.
 *
 * @param node the step, or a node of a supervisor
 * @param step name of the step
 */
export function supervisor(node: INode, step: string): IWorkflowBase {
	const waves = times(WAVES, (number) => sleepingNode(node, `Wave ${number}`, 'nextWave'));
	const collections = times(COLLECTIONS, (number) =>
		sleepingNode(node, number > 1 ? `Collect ${number}` : 'Collect', 'collect'),
	);
	return helperWorkflow({
		name: `${step}: sleeping batch`,
		note: [
			`## The sleeping batch of “${step}”`,
			'### This is not a workflow of yours: the step runs it while your execution sleeps. Each wave is an execution of its own. It fetches what is ready, fills the free slots and ends. This workflow sleeps between them.',
			'### To end the batch, stop the execution of your own workflow. This execution then ends by itself. After a crash of n8n, the next wave continues.',
		],
		lines: [
			[
				...waves,
				// A failure is that of the whole batch.
				{ ...sleepingNode(node, 'Continue', 'continueLater'), onError: undefined },
				...collections,
				{ ...helperNode(node, 'Return', 'return'), onError: undefined },
			],
		],
		saved: 'sleeps',
	});
}

/** Builds the workflow of one wave. */
export function wave(node: INode, step: string): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: wave`,
		note: [
			`## One wave of the sleeping batch of “${step}”`,
			'### It sleeps until generations are due to end. Then it checks them, creates the next ones, and ends. n8n deletes this execution when it succeeds.',
		],
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Work', 'work', {})]],
		saved: 'sleeps',
	});
}

/** Builds the workflow that fetches the results. Its execution owns the files, and is kept if there are any. */
export function resultsWorkflow(node: INode, step: string): IWorkflowBase {
	return helperWorkflow({
		name: `${step}: results`,
		note: [
			`## The results of the sleeping batch of “${step}”`,
			'### The batch has ended. This workflow fetched its generations for your execution, and holds their files. It creates none, and charges nothing.',
		],
		lines: [[helperNode(node, 'Sleep', 'sleep'), helperNode(node, 'Results', 'deliver', {})]],
		saved: 'result',
	});
}

/**
 * A supervisor node that starts a helper workflow and sleeps until it ends. After a crash, n8n marks the supervisor as
 * crashed for a few milliseconds. If n8n reads the supervisor's result then, it takes this node's output as the result
 * of the step. Output of a type other than `main` is not accepted, so the step fails instead. The next node's input is
 * unaffected.
 */
function sleepingNode(node: INode, name: string, role: BatchRole): HelperNode {
	return { ...helperNode(node, name, role), rewireOutputLogTo: 'ai_memory' };
}

function helperNode(
	node: INode,
	name: string,
	role: BatchRole,
	settings: Partial<INode> = { onError: 'continueRegularOutput' },
): HelperNode {
	const parameters = { [ROLE_PARAMETER]: role, ...required(node) };
	return { ...sameAs(node), name, parameters, ...settings };
}

/** n8n does not run a node whose required parameters are empty. */
function required({ parameters: { model } }: INode) {
	const id = typeof model === 'object' ? (model as { value?: unknown }).value : model;
	const value = typeof id === 'string' && !id.startsWith('=') ? id : 'by-expression';
	return { model: { __rl: true, mode: 'id', value }, prompt: 'As in the step' };
}

function times<T>(count: number, make: (number: number) => T): T[] {
	return Array.from({ length: count }, (_, index) => make(index + 1));
}
