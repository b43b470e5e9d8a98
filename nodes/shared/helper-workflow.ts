import type {
	IDataObject,
	INode,
	INodeExecutionData,
	IWorkflowBase,
	WorkflowSettings,
} from 'n8n-workflow';

import { runsByHand } from './execution';
import type { Step } from './step';

/**
 * Nodes of this package start helper workflows. Some helper workflows run n8n's own nodes. Others do the work of a step
 * whose execution sleeps: n8n then takes their result as the step's output, and does not run its node again.
 */

export type HelperNode = Pick<INode, 'name' | 'parameters' | 'type' | 'typeVersion'> &
	Partial<INode>;

const trigger: HelperNode = {
	name: 'Start',
	type: 'n8n-nodes-base.executeWorkflowTrigger',
	typeVersion: 1.1,
	parameters: { inputSource: 'passthrough' },
};

interface Helper {
	name: string;
	/** Each line is a chain of nodes after the trigger. n8n runs line after line, and returns the output of the last line. */
	lines: HelperNode[][];
	/**
	 * Which executions of the helper workflow n8n keeps. `none`: no execution; only for a helper that never sleeps. `sleeps`:
	 * failed ones and, if `HelperTerms.successes` says so, successful ones. `files`: all, because an execution owns its files.
	 */
	saved: keyof typeof SAVED;
}

/**
 * What a step that sleeps gives to its helper workflows, in their workflow settings. n8n stores these settings with the
 * helper's execution, but shows them in no item, error or log, so the secret stays hidden.
 */
interface HelperTerms {
	/** Proves that the step started this helper workflow: the execution of the step has stored the same secret. */
	secret?: string;
	/** The setting of the user's workflow that says which successful executions are kept. */
	successes?: WorkflowSettings.SaveDataExecution;
	/** The setting of the user's workflow that says whether executions that fail are kept. */
	errors?: WorkflowSettings.SaveDataExecution;
}

/** Name of the workflow setting that contains the `HelperTerms`. */
const TERMS = 'mediaGeneration';

/** The workflow settings that a helper workflow takes over from the workflow that starts it. */
const INHERITED = ['timezone', 'redactionPolicy'];

/** Settings of a helper workflow that sleeps: n8n must be able to read its result from the database, even after a crash. */
const SLEEPS = {
	saveDataErrorExecution: 'all',
	// With `false`, n8n returns after a crash what it stored at the last sleep: a `Message`, never mistaken for a result.
	saveExecutionProgress: false,
	// No limit: n8n's limit would include the time asleep. The step has its own Timeout.
	executionTimeout: -1,
};

/**
 * Settings for each value of `Helper.saved`. If a helper execution is not kept, n8n deletes that execution before it wakes
 * the execution that waits for the helper. If n8n dies in between, the waiting execution sleeps forever. So helpers that
 * sleep are kept; with `sleeps`, only if the user's workflow keeps successful executions (see `runHelper`).
 */
const SAVED = {
	none: { saveDataSuccessExecution: 'none', saveDataErrorExecution: 'none' },
	sleeps: SLEEPS,
	files: { ...SLEEPS, saveDataSuccessExecution: 'all' },
};

/** Builds a helper workflow: a trigger, and lines of nodes. */
export function helperWorkflow({ name, lines, saved }: Helper): IWorkflowBase {
	const placed = lines.flatMap((line, row) =>
		line.map((node, index) => ({ ...node, position: [240 * (index + 1), 200 * row] })),
	);
	const nodes = [{ ...trigger, position: [0, 0] }, ...placed];
	return {
		name,
		nodes: nodes.map((node, index) => ({ ...node, id: `helper-${index}` })),
		connections: connected(lines.map((line) => line.map((node) => node.name))),
		settings: {
			executionOrder: 'v1',
			// Without this setting, the default of the n8n instance applies, which may forbid all workflows to call this one.
			callerPolicy: 'workflowsFromSameOwner',
			...SAVED[saved],
		},
		active: false,
	} as unknown as IWorkflowBase;
}

/** The fields by which a node of a helper workflow gets the same type and credentials as another node. */
export function sameAs({ type, typeVersion, credentials }: INode) {
	return { type, typeVersion, credentials };
}

/** The `HelperTerms` that a step which sleeps gives to its helper workflows. */
export function newTerms(step: Step, secret: string): HelperTerms {
	const { saveManualExecutions, saveDataSuccessExecution, saveDataErrorExecution } =
		settingsOf(step);
	const isDiscarded = runsByHand(step) && saveManualExecutions === false;
	const saving = (setting: unknown) =>
		isDiscarded ? 'none' : (setting as WorkflowSettings.SaveDataExecution | undefined);
	return {
		secret,
		successes: saving(saveDataSuccessExecution),
		errors: saving(saveDataErrorExecution),
	};
}

/** The `HelperTerms` of the helper workflow that the node runs in; `null` in a workflow of the user. */
export function termsOf(step: Step): HelperTerms | null {
	return (settingsOf(step)[TERMS] as HelperTerms | undefined) ?? null;
}

/** The secret of the helper workflow that the node runs in; `null` in a user's workflow: it must not read sleeping steps. */
export function secretOf(step: Step): string | null {
	const secret: unknown = termsOf(step)?.secret;
	return typeof secret === 'string' && secret !== '' ? secret : null;
}

/** Adds to a helper workflow the `INHERITED` settings of the workflow that starts it. */
export function withCallerSettings(step: Step, code: IWorkflowBase): IWorkflowBase {
	const settings = Object.entries(settingsOf(step)).filter(([name]) => INHERITED.includes(name));
	return { ...code, settings: { ...Object.fromEntries(settings), ...code.settings } };
}

/** The settings of the workflow that the node runs in. n8n's type lacks some. In older n8n releases, nodes can read none. */
function settingsOf(step: Step): IDataObject {
	return (step.n8n.getWorkflowSettings?.() ?? {}) as unknown as IDataObject;
}

/**
 * Runs a helper workflow. If it sleeps, n8n suspends this node's execution until the helper ends, and then uses the helper's
 * result as the output of this node. `output`: `null` if the helper sleeps. Throws the error of n8n or of the helper.
 */
export async function runHelper(
	step: Step,
	helper: IWorkflowBase,
	items: INodeExecutionData[],
	terms = termsOf(step),
): Promise<{ execution: string; output: INodeExecutionData[] | null }> {
	const { id: workflowId = '' } = step.n8n.getWorkflow();
	const code = withCallerSettings(step, helper);
	const given = { saveDataSuccessExecution: terms?.successes, [TERMS]: terms };
	code.settings = { ...given, ...code.settings };
	const { executionId, data, waitTill } = await step.n8n.executeWorkflow(
		{ code },
		items,
		undefined,
		{
			parentExecution: { executionId: step.execution, workflowId, shouldResume: true },
			executionMode: step.n8n.getMode(),
		},
	);
	return { execution: executionId, output: waitTill ? null : (data?.[0] ?? []) };
}

/** Connects the first node of each line to the trigger, and each other node to the one before it. */
function connected(lines: string[][]) {
	const to = (node: string) => ({ node, type: 'main', index: 0 });
	const inLines = lines.flatMap((names) =>
		names.slice(1).map((next, index) => [names[index], { main: [[to(next)]] }]),
	);
	const started = lines.map(([first]) => to(first));
	return { [trigger.name]: { main: [started] }, ...Object.fromEntries(inLines) };
}
