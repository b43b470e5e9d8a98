import { NodeConnectionTypes, deepCopy } from 'n8n-workflow';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import type { DeriveNode } from '../../../tools/engine/node-types';

/** Finds tools as n8n does: by the type name of a node marked `usableAsTool`, with `Tool` at its end. */
export function aiTools(): DeriveNode {
	const tools = new Map<INodeType, INodeType>();
	return (type, known) => {
		if (!type.endsWith('Tool')) return undefined;
		const base = known(type.slice(0, -'Tool'.length));
		if (!base.description.usableAsTool) throw new Error(`${type}: not usable as a tool`);
		const tool = tools.get(base) ?? toAiTool(base);
		tools.set(base, tool);
		return tool;
	};
}

/**
 * Makes the tool that n8n makes of a node marked `usableAsTool`: the same code under the type name
 * with `Tool` at its end, no inputs, one `ai_tool` output, and a description for the agent.
 */
export function toAiTool(nodeType: INodeType): INodeType {
	const { usableAsTool, ...description } = deepCopy(nodeType.description);
	const replacements = typeof usableAsTool === 'object' ? usableAsTool.replacements : undefined;
	const tool = { ...description, ...replacements };
	return Object.create(nodeType, {
		description: {
			value: {
				...tool,
				name: `${tool.name}Tool`,
				displayName: `${tool.displayName} Tool`,
				inputs: [],
				outputs: [NodeConnectionTypes.AiTool],
				properties: [...descriptionFields(tool.properties, tool.description), ...tool.properties],
			},
		},
	}) as INodeType;
}

/** n8n lets the author write the tool's description; with operations, it can be made from those. */
function descriptionFields(properties: INodeProperties[], text: string): INodeProperties[] {
	const has = (name: string) => properties.some((property) => property.name === name);
	if (has('toolDescription')) return [];
	const field: INodeProperties = {
		displayName: 'Description',
		name: 'toolDescription',
		type: 'string',
		default: text,
		required: true,
	};
	if (!has('resource') && !has('operation')) return [field];
	return [
		choiceOfDescription,
		{ ...field, displayOptions: { show: { descriptionType: ['manual'] } } },
	];
}

const choiceOfDescription: INodeProperties = {
	displayName: 'Tool Description',
	name: 'descriptionType',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Set Automatically', value: 'auto' },
		{ name: 'Set Manually', value: 'manual' },
	],
	default: 'auto',
};
