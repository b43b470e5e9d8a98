import type {
	IBinaryData,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

/** What runs in n8n and talks to the service: a step, or a search of the editor. */
export interface Caller {
	/** n8n's helpers. While a step sleeps, those of the wave that works for it. */
	n8n: IExecuteFunctions | ILoadOptionsFunctions;
	node: INode;
	/** Aborts on the user's Stop or the workflow's timeout. */
	signal: AbortSignal;
}

/**
 * A step: one run of a node with its items. It works in its own execution; while that sleeps, in a wave. Its node, items
 * and parameters are read from here, and never from the execution that it works in.
 */
export interface Step extends Caller {
	n8n: IExecuteFunctions;
	/** Id of the execution that the step belongs to. */
	execution: string;
	items: INodeExecutionData[];
	/** The value of a parameter of an item, evaluated, by its path. Throws n8n's error if its expression fails. */
	parameter: (path: string, itemIndex: number, fallback?: unknown) => unknown;
	/** Evaluates an expression of an item, to check it. Throws if that fails. `null` after a sleep: it was checked before. */
	evaluate: ((expression: string, itemIndex: number) => unknown) | null;
	/** Until when the call of an agent must end, in milliseconds since the Unix epoch. */
	callEndsAt?: number;
	/** The key scope of the step, if it was read before a sleep. */
	keyScope?: string | null;
	/** The file of an item in a binary field, or at a path in its JSON. Throws if there is none. */
	file: (itemIndex: number, place: string) => IBinaryData;
}

/** The step that n8n runs. */
export function stepIn(context: IExecuteFunctions): Step {
	return {
		...callerIn(context),
		n8n: context,
		execution: context.getExecutionId?.(),
		items: context.getInputData(),
		parameter: (path, itemIndex, fallback) =>
			context.getNodeParameter(path, itemIndex, fallback) as unknown,
		evaluate: (expression, itemIndex) => context.evaluateExpression(expression, itemIndex),
		file: (itemIndex, place) => context.helpers.assertBinaryData(itemIndex, place),
	};
}

/** True if a step works in a wave: all of its items were checked before it fell asleep. */
export function isAfterSleep({ evaluate }: Pick<Step, 'evaluate'>): boolean {
	return evaluate === null;
}

/** What n8n runs, without items. Older n8n releases and list searches have no signal: theirs never aborts. */
export function callerIn<Context extends Caller['n8n']>(context: Context) {
	const given = (context as IExecuteFunctions).getExecutionCancelSignal?.();
	return { n8n: context, node: context.getNode(), signal: given ?? new AbortController().signal };
}

/**
 * Evaluates each parameter only once. An expression may have another value each time, such as a key with a random part: the
 * waves of a step that sleeps need the values that it began with.
 */
export function evaluatingOnce(step: Step): Step {
	const known = new Map<string, unknown>();
	const parameter: Step['parameter'] = (path, itemIndex, fallback) => {
		const place = `${itemIndex} ${path}`;
		if (!known.has(place)) known.set(place, step.parameter(path, itemIndex, fallback));
		return known.get(place);
	};
	return { ...step, parameter };
}
