/** A stand-in for n8n's AI Agent: calls the tools connected to it, without a language model. */
import { NodeConnectionTypes } from 'n8n-workflow';
import type {
	EngineRequest,
	EngineResponse,
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeParameters,
	INodeType,
} from 'n8n-workflow';
import type { WorkflowJson } from './run';

/** The type name under which every engine knows the stand-in. */
export const agentType = 'engine.agent';

/** The name of the tool's node in the workflow that calls it. */
export const toolNode = 'Tool';

/**
 * The two ways in which n8n's agents call a tool. `invoke`: the agent calls it within its own step
 * (Agent 2.x and sub-agents). `engine`: it asks the engine to run the node (Agent 3.x).
 */
export type ToolPath = 'invoke' | 'engine';

/** What the agent is told about a tool, and what a call of it gave back. */
export interface ToolCall {
	name: string;
	description: string;
	/** What the language model would read; JSON text as a rule. */
	response: string;
}

interface Tool {
	name: string;
	description: string;
	invoke: (args: IDataObject) => Promise<string>;
}

/** Calls its tool once for each input item, with the item's JSON as the arguments. */
export const agent: INodeType = {
	description: {
		name: 'agent',
		displayName: 'Agent',
		group: ['transform'],
		version: 1,
		description: 'Calls the connected tool',
		defaults: { name: 'Agent' },
		inputs: [NodeConnectionTypes.Main, NodeConnectionTypes.AiTool],
		outputs: [NodeConnectionTypes.Main],
		properties: [{ displayName: 'Path', name: 'path', type: 'string', default: 'invoke' }],
	},
	async execute(response?: EngineResponse) {
		if (this.getNodeParameter('path', 0) === 'invoke') return [await invokeAll(this)];
		if (!response?.actionResponses.length) return requestAll(this);
		return [response.actionResponses.map(toItem)];
	},
};

/** Builds the workflow of one tool: trigger, agent, and the node under its tool type. */
export function toolWorkflow(
	nodeType: string,
	parameters: INodeParameters,
	path: ToolPath,
	settings: Partial<INode> = {},
): WorkflowJson {
	const tool = { ...at(toolNode, `${nodeType}Tool`, parameters), ...settings, name: toolNode };
	return {
		id: 'tool',
		nodes: [at('Start', 'n8n-nodes-base.manualTrigger'), at('Agent', agentType, { path }), tool],
		connections: {
			Start: { main: [[{ node: 'Agent', type: NodeConnectionTypes.Main, index: 0 }]] },
			[toolNode]: { ai_tool: [[{ node: 'Agent', type: NodeConnectionTypes.AiTool, index: 0 }]] },
		},
	};
}

function at(name: string, type: string, parameters: INodeParameters = {}): INode {
	return { id: name, name, type, typeVersion: 1, position: [0, 0], parameters };
}

async function invokeAll(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	const [tool] = [connected].flat() as Tool[];
	const items: INodeExecutionData[] = [];
	for (const { json } of context.getInputData()) {
		const { name, description } = tool;
		items.push({ json: { name, description, response: await tool.invoke(json) } });
	}
	return items;
}

function requestAll(context: IExecuteFunctions): EngineRequest {
	const actions = context.getInputData().map(({ json }, itemIndex) => ({
		actionType: 'ExecutionNodeAction' as const,
		nodeName: toolNode,
		input: json,
		type: NodeConnectionTypes.AiTool,
		id: `call-${itemIndex}`,
		metadata: { itemIndex },
	}));
	return { actions, metadata: {} };
}

/** Agent 3.x hands the JSON of the tool's items to the model. */
function toItem({ data }: EngineResponse['actionResponses'][number]): INodeExecutionData {
	const items = data.data?.ai_tool?.[0] ?? [];
	const response = JSON.stringify(data.error?.message ?? items.map(({ json }) => json));
	return { json: { name: toolNode, description: '', response } };
}
