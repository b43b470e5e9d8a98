import type { IExecuteFunctions, INode, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';

/**
 * Helper workflows, for all that a step does while its execution sleeps. n8n does not run a node again after its
 * execution wakes. A helper workflow therefore does the work, and sleeps in between. The step's execution sleeps in
 * n8n's database until that workflow ends, and then returns its result.
 */

/** A node of a helper workflow. */
export type HelperNode = Pick<INode, 'name' | 'parameters' | 'type' | 'typeVersion'> &
	Partial<INode>;

const NODES_IN_A_ROW = 6;

const trigger: HelperNode = {
	name: 'Start',
	type: 'n8n-nodes-base.executeWorkflowTrigger',
	typeVersion: 1.1,
	parameters: { inputSource: 'passthrough' },
};

/** What a helper workflow consists of. */
export interface Helper {
	name: string;
	/** Explains the workflow in the executions list. Each entry is a paragraph, in Markdown. */
	note: string[];
	/** The nodes after the trigger, in a line. */
	nodes: HelperNode[];
	/** The node to which the first output of an If node leads; `null` for other nodes. */
	branches?: (name: string) => string | null;
	/** False: a successful execution is deleted when it ends, together with its files. */
	saved: boolean;
}

/** Builds a helper workflow: a trigger, and a line of nodes. */
export function helperWorkflow({ name, note, nodes, saved, branches }: Helper): IWorkflowBase {
	const line = [trigger, ...nodes].map((each, index) => ({
		...each,
		id: `suspended-${index}`,
		position: [240 * (index % NODES_IN_A_ROW), 200 * Math.floor(index / NODES_IN_A_ROW)],
	}));
	return {
		name,
		nodes: [sticky(note), ...line],
		connections: inLine(
			line.map((node) => node.name),
			branches,
		),
		settings: {
			executionOrder: 'v1',
			// The instance's default may allow no callers.
			callerPolicy: 'workflowsFromSameOwner',
			saveDataSuccessExecution: saved ? 'all' : 'none',
			// n8n must be able to read how a helper workflow ended, also after a crash.
			saveDataErrorExecution: 'all',
			// After a crash, n8n then returns the data from the last sleep, which is marked as not a result.
			saveExecutionProgress: false,
		},
		active: false,
	} as unknown as IWorkflowBase;
}

/** A node of a helper workflow that runs this node type. */
export function sameAs({ type, typeVersion, credentials }: INode) {
	return { type, typeVersion, credentials };
}

/**
 * Runs a helper workflow. If it sleeps, the execution sleeps too, until the helper workflow ends. n8n then returns the
 * result of the helper workflow as the output of this node, and ignores what the node itself returns.
 *
 * @returns the output of the helper workflow; `null` if it sleeps
 * @throws n8n's error if it rejects the helper workflow
 * @throws the error of the helper workflow if it fails before it sleeps
 */
export async function runHelper(
	context: IExecuteFunctions,
	code: IWorkflowBase,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[] | null> {
	const { id: workflowId = '' } = context.getWorkflow();
	const { data, waitTill } = await context.executeWorkflow({ code }, items, undefined, {
		parentExecution: { executionId: context.getExecutionId(), workflowId, shouldResume: true },
		executionMode: context.getMode(),
	});
	return waitTill ? null : (data?.[0] ?? []);
}

function sticky(paragraphs: string[]) {
	return {
		id: 'suspended-note',
		name: 'What This Is',
		type: 'n8n-nodes-base.stickyNote',
		typeVersion: 1,
		position: [-40, -300],
		parameters: { width: 1400, height: 240, content: paragraphs.join('\n\n') },
	};
}

function inLine(names: string[], branches: Helper['branches'] = () => null) {
	const to = (node: string) => [{ node, type: 'main', index: 0 }];
	return Object.fromEntries(
		names.slice(1).map((next, index) => {
			const branch = branches(names[index]);
			return [names[index], { main: branch === null ? [to(next)] : [to(branch), to(next)] }];
		}),
	);
}
