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
} from 'n8n-workflow';
import type { WorkflowJson } from '../../../tools/engine';
import { bareNode } from '../../../tools/engine/bare-node';

/** The type name under which every engine knows the stand-in. */
export const agentType = 'engine.agent';

/** The name of the tool's node in the workflow that calls it. */
const toolNode = 'Tool';

/**
 * The ways in which n8n's agents call a tool. `invoke`: the agent calls it within its own step (Agent 2.x and
 * sub-agents). `atOnce`: so it does for several items at the same time, each with a tool of its own (Agent 2.x in
 * batches); n8n gives such calls the same run index. `engine`: it asks the engine to run the node (Agent 3.x).
 */
export type ToolPath = 'invoke' | 'atOnce' | 'engine';

/** The description of a tool for the agent, and the result of a call. */
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
export const agent = bareNode('agent', {
	description: {
		displayName: 'Agent',
		inputs: [NodeConnectionTypes.Main, NodeConnectionTypes.AiTool],
		properties: [{ displayName: 'Path', name: 'path', type: 'string', default: 'invoke' }],
	},
	async execute(response?: EngineResponse) {
		const path = this.getNodeParameter('path', 0);
		if (path === 'invoke') return [await invokeAll(this)];
		if (path === 'atOnce') return [await invokeAtOnce(this)];
		if (!response?.actionResponses.length) return requestAll(this);
		return [response.actionResponses.map(toItem)];
	},
});

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

async function connectedTool(context: IExecuteFunctions): Promise<Tool> {
	const connected = await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
	return ([connected].flat() as Tool[])[0];
}

async function invoke(tool: Tool, args: IDataObject): Promise<INodeExecutionData> {
	const { name, description } = tool;
	return { json: { name, description, response: await tool.invoke(args) } };
}

async function invokeAll(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const tool = await connectedTool(context);
	const items: INodeExecutionData[] = [];
	for (const { json } of context.getInputData()) items.push(await invoke(tool, json));
	return items;
}

async function invokeAtOnce(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const calls = context.getInputData();
	const tools = await Promise.all(calls.map(async () => await connectedTool(context)));
	const answers = await Promise.allSettled(
		calls.map(async ({ json }, index) => await invoke(tools[index], json)),
	);
	// Each call ends by itself: the language model receives an error of a tool.
	return answers.map((answer) =>
		answer.status === 'fulfilled' ? answer.value : { json: { response: String(answer.reason) } },
	);
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
