/** Checks that a workflow file matches the current nodes, so that users can import it. Running it shows invalid values. */
import { NodeHelpers, isExpression } from 'n8n-workflow';
import type { INode, INodeProperties, INodePropertyCollection, INodeType } from 'n8n-workflow';

type Values = Record<string, unknown>;

/**
 * Returns one line for each mismatch between a node's parameters and its description: unknown names, and fields that are
 * hidden with these settings. n8n drops both without a word.
 */
export function parameterProblems(node: INode, { description }: INodeType): string[] {
	const { properties } = description;
	const { name, parameters } = node;
	const shown = NodeHelpers.getNodeParameters(
		...([properties, parameters, true, false, node, description] as const),
	);
	const hidden = Object.keys(parameters).filter((field) => shown?.[field] === undefined);
	return [
		...unknownNames(parameters, properties, name),
		...hidden.map((field) => `${name}.${field} does not show with these settings`),
	];
}

function unknownNames(values: Values, properties: INodeProperties[], path: string): string[] {
	return Object.entries(values).flatMap(([name, value]) => {
		const here = `${path}.${name}`;
		const field = properties.find((property) => property.name === name);
		if (!field) return [`${here} does not exist`];
		if (isExpression(value)) return [];
		if (field.type === 'collection') {
			return unknownNames(value as Values, field.options as INodeProperties[], here);
		}
		if (field.type !== 'fixedCollection') return [];
		const groups = field.options as INodePropertyCollection[];
		return Object.entries(value as Values).flatMap(([group, entries]) => {
			const known = groups.find((option) => option.name === group);
			if (!known) return [`${here}.${group} does not exist`];
			return [entries].flat().flatMap((entry) => unknownNames(entry as Values, known.values, here));
		});
	});
}
