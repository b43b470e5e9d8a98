/** Checks that a workflow file matches the current nodes, so that users can import it. */
import { NodeHelpers, isExpression } from 'n8n-workflow';
import type {
	INode,
	INodeParameters,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
	NodeParameterValueType,
} from 'n8n-workflow';

type Values = Record<string, unknown>;

/**
 * Returns one line for each mismatch between a node's parameters and its description: unknown names, unknown options,
 * wrong types, and fields that are hidden with these settings. Returns an empty list if everything matches.
 */
export function parameterProblems(node: INode, { description }: INodeType): string[] {
	const { properties } = description;
	const problems = checkValues(node.parameters, properties, node.name);
	if (problems.length > 0) return problems;
	const shown = NodeHelpers.getNodeParameters(
		properties,
		node.parameters,
		true,
		false,
		node,
		description,
	);
	return Object.keys(node.parameters)
		.filter((name) => shown?.[name] === undefined)
		.map((name) => `${node.name}.${name} does not show with these settings`);
}

/** Returns the names of the nodes that expressions in the parameters refer to. */
export function nodesReferredTo(parameters: INodeParameters): string[] {
	return [...JSON.stringify(parameters).matchAll(/\$\(\s*(?:'|\\")(.+?)(?:'|\\")\s*\)/g)].map(
		([, name]) => name,
	);
}

function checkValues(values: Values, properties: INodeProperties[], path: string): string[] {
	return Object.entries(values).flatMap(([name, value]) => {
		const here = `${path}.${name}`;
		// Several fields can have the same name, if only one is shown. One valid field is enough.
		const fields = properties.filter((property) => property.name === name);
		if (fields.length === 0) return [`${here} does not exist`];
		const found = fields.map((field) => checkValue(value, field, here));
		return found.find((problems) => problems.length === 0) ?? found[0];
	});
}

function checkValue(value: unknown, field: INodeProperties, path: string): string[] {
	if (isExpression(value)) return field.noDataExpression ? [`${path} takes no expression`] : [];
	switch (field.type) {
		case 'options':
			return choicesOf(field).includes(value as string)
				? []
				: [`${path} has no option ${JSON.stringify(value)}`];
		case 'multiOptions':
			return (value as string[])
				.filter((one) => !choicesOf(field).includes(one))
				.map((one) => `${path} has no option ${JSON.stringify(one)}`);
		case 'collection':
			return checkValues(value as Values, field.options as INodeProperties[], path);
		case 'fixedCollection':
			return checkGroups(value as Values, field, path);
		case 'resourceLocator':
			return checkLocator(value as Values, field, path);
		default:
			return typeof value === field.type ? [] : [`${path} is not a ${field.type}`];
	}
}

function choicesOf({ options = [] }: INodeProperties): Array<string | number | boolean> {
	return (options as INodePropertyOptions[]).map(({ value }) => value);
}

function checkGroups(groups: Values, field: INodeProperties, path: string): string[] {
	return Object.entries(groups).flatMap(([name, entries]) => {
		const options = field.options as INodePropertyCollection[];
		const group = options.find((option) => option.name === name);
		if (!group) return [`${path}.${name} does not exist`];
		if (Array.isArray(entries) !== (field.typeOptions?.multipleValues === true)) {
			return [`${path}.${name} is to be a list where there can be several, and only there`];
		}
		return [entries]
			.flat()
			.flatMap((entry, index) =>
				checkValues(entry as Values, group.values, `${path}.${name}[${index}]`),
			);
	});
}

function checkLocator(locator: Values, { modes = [] }: INodeProperties, path: string): string[] {
	const { __rl: isLocator, mode, value } = locator;
	if (isLocator !== true) return [`${path} is not a resource locator`];
	const known = modes.some(({ name }) => name === mode);
	const filled = typeof (value as NodeParameterValueType) === 'string' && value !== '';
	return [
		...(known ? [] : [`${path} has no mode ${JSON.stringify(mode)}`]),
		...(filled ? [] : [`${path} has no value`]),
	];
}
