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
 * Helper workflows use n8n's own nodes, or work while the execution of the step sleeps: n8n does not run a node again after
 * its execution wakes, but returns the result of the helper workflow.
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
	/** The nodes after the trigger. n8n runs one line after the other, and returns the output of the last one. */
	lines: HelperNode[][];
	/**
	 * Which executions n8n keeps. `none`: it does not sleep, and none are kept. `sleeps`: those that fail, and those that
	 * succeed if `HelperTerms.successes` says so. `files`: all.
	 */
	saved: keyof typeof SAVED;
}

/**
 * What a sleeping helper workflow knows from the step that started it, and passes on to those that it starts. It is part
 * of the settings of the helper workflow. n8n stores these with the execution, and shows them in no item, error or log.
 */
interface HelperTerms {
	/** Proves to the step that it started this helper workflow. Set only if the helper workflow reads the step. */
	secret?: string;
	/** The setting of the user's workflow that says which successful executions are kept. */
	successes?: WorkflowSettings.SaveDataExecution;
	/** The same for executions that fail. */
	errors?: WorkflowSettings.SaveDataExecution;
}

/** The setting that contains the `HelperTerms`. */
const TERMS = 'mediaGeneration';

/** What a helper workflow takes over from the settings of the workflow that starts it. */
const INHERITED = ['timezone', 'redactionPolicy'];

/** n8n must be able to read the result of a sleeping helper workflow, even after a crash. */
const SLEEPS = {
	saveDataErrorExecution: 'all',
	// So after a crash, n8n returns the data from the last sleep: a `Message`, which is not taken for a result.
	saveExecutionProgress: false,
	// A time limit of n8n would count the sleep. The step has a Timeout of its own.
	executionTimeout: -1,
};

/**
 * n8n deletes an execution that is not kept before it wakes the one that waits for it. If n8n dies in between, that one
 * sleeps forever: n8n's sweep wakes only those whose helper execution still exists. So one that sleeps is kept if the
 * user's workflow keeps executions that succeed.
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
			// The instance's default may allow no callers.
			callerPolicy: 'workflowsFromSameOwner',
			...SAVED[saved],
		},
		active: false,
	} as unknown as IWorkflowBase;
}

/** A node of a helper workflow that runs this node type. */
export function sameAs({ type, typeVersion, credentials }: INode) {
	return { type, typeVersion, credentials };
}

/** The terms of the helper workflows of a step that sleeps. */
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

/** The terms of the helper workflow that the node runs in; `null` in a workflow of the user. */
export function termsOf(step: Step): HelperTerms | null {
	return (settingsOf(step)[TERMS] as HelperTerms | undefined) ?? null;
}

/** The secret of the helper workflow that the node runs in. `null` if it has none: a missing secret never matches. */
export function secretOf(step: Step): string | null {
	const secret: unknown = termsOf(step)?.secret;
	return typeof secret === 'string' && secret !== '' ? secret : null;
}

/** Adds to a helper workflow what it takes over from the caller's settings. */
export function withCallerSettings(step: Step, code: IWorkflowBase): IWorkflowBase {
	const settings = Object.entries(settingsOf(step)).filter(([name]) => INHERITED.includes(name));
	return { ...code, settings: { ...Object.fromEntries(settings), ...code.settings } };
}

/** n8n's type lacks some settings. In older releases, nodes cannot read any. */
function settingsOf(step: Step): IDataObject {
	return (step.n8n.getWorkflowSettings?.() ?? {}) as unknown as IDataObject;
}

/**
 * Runs a helper workflow. If it sleeps, the execution sleeps until it ends, and n8n then returns its result as the output
 * of this node. Returns its output, `null` if it sleeps. Throws n8n's error, or that of the helper workflow.
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
