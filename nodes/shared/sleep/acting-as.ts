import type {
	IBinaryData,
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeParameters,
	NodeParameterValueType,
} from 'n8n-workflow';

import { isFile } from '../form/form';

/** Contexts that give a step the values of its first evaluation, before and after a sleep. */

/** What the step stores for its waves. Expressions of the step do not work in another workflow. */
export interface KeptParameters extends IDataObject {
	/**
	 * Proves to the step that a wave belongs to it. n8n lets every workflow read every execution: without this, any workflow
	 * could run as the step, with the step's items and with its own credential.
	 */
	secret: string;
	/** `STORED_VERSION` of the release that stored them. */
	v: number;
	/** The run index of the step. */
	run: number;
	/** One entry per item: the evaluated values of the parameters that contain expressions. */
	items: IDataObject[];
}

/**
 * Returns a context that evaluates each expression only once. An expression may have another value each time, such as a
 * key with a random part: the waves need the values that the step began with.
 */
export function evaluatingOnce(context: IExecuteFunctions): IExecuteFunctions {
	const known = new Map<string, unknown>();
	const getNodeParameter = (name: string, itemIndex: number, fallback?: unknown) => {
		const place = `${itemIndex} ${name}`;
		if (!known.has(place)) known.set(place, context.getNodeParameter(name, itemIndex, fallback));
		return known.get(place);
	};
	return Object.assign(Object.create(context) as object, {
		getNodeParameter,
	}) as IExecuteFunctions;
}

/** A context in which a wave runs as the step: with its id, node, items and evaluated parameters. */
export function actingAs(
	context: IExecuteFunctions,
	batch: string,
	node: INode,
	items: INodeExecutionData[],
	kept: KeptParameters,
): IExecuteFunctions {
	const fileOf = (itemIndex: number, place: string | IBinaryData): IBinaryData => {
		if (isFile(place)) return place;
		const file: unknown =
			items[itemIndex].binary?.[place as string] ?? at(items[itemIndex].json, place as string);
		if (isFile(file)) return file;
		throw new Error(`The item has no binary field "${String(place)}"`);
	};
	const parameters = { ...node.parameters };
	const own = {
		getNode: () => node,
		getExecutionId: () => batch,
		getInputData: () => items,
		continueOnFail: () => continues(node),
		// The step has evaluated and checked its expressions.
		evaluateExpression: () => {
			throw new Error('Expressions are evaluated before the first sleep');
		},
		getNodeParameter: (name: string, itemIndex: number, fallback?: unknown) => {
			const values: INodeParameters = {
				...parameters,
				...(kept.items[itemIndex] as INodeParameters),
			};
			const value = at(values, name);
			return (value === undefined ? fallback : value) as NodeParameterValueType | object;
		},
		helpers: {
			...context.helpers,
			assertBinaryData: fileOf,
			getBinaryDataBuffer: async (itemIndex: number, place: string | IBinaryData) =>
				await context.helpers.getBinaryDataBuffer(0, fileOf(itemIndex, place)),
		},
	};
	return Object.assign(Object.create(context) as object, own) as unknown as IExecuteFunctions;
}

/** A name in a path, or one in brackets: `[0]`, `["a name"]`. */
const NAMES = /[^.[\]]+|\[(?:(\d+)|(["'])(.*?)\2)\]/g;

/** The value at a path as n8n reads it, such as `options.seed` or `_files.photos[0]`. */
function at(values: object, path: string): unknown {
	const names = [...path.matchAll(NAMES)].map(([name, index, , quoted]) => quoted ?? index ?? name);
	return names.reduce<unknown>(
		(value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
		values,
	);
}

function continues({ onError, continueOnFail }: INode): boolean {
	if (onError === undefined) return continueOnFail ?? false;
	return onError !== 'stopWorkflow';
}
