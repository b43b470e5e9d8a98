import type {
	IBinaryData,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	INode,
	INodeExecutionData,
} from 'n8n-workflow';

/** What sends requests to the service: a step of a workflow, or the model list of a form in n8n's editor. */
export interface Caller {
	/** n8n's functions for the running node. While a step sleeps, the running node is one of a helper workflow. */
	n8n: IExecuteFunctions | ILoadOptionsFunctions;
	node: INode;
	/** Aborts on the user's Stop or the workflow's timeout. */
	signal: AbortSignal;
}

/**
 * A step: one run of a node with its items. Read node, items and parameters from here, and never from `n8n`: while the step
 * sleeps, a helper execution works for the step, and `n8n` returns the items and parameters of the helper workflow.
 */
export interface Step extends Caller {
	n8n: IExecuteFunctions;
	/** Id of the execution that the step belongs to, and not of a helper execution that works for it. */
	execution: string;
	items: INodeExecutionData[];
	/** The value of a parameter of an item, evaluated, by its path. Throws n8n's error if its expression fails. */
	parameter: (path: string, itemIndex: number, fallback?: unknown) => unknown;
	/** Evaluates an expression for an item, to check it. Throws if that fails. `null` after a sleep: all checks are done. */
	evaluate: ((expression: string, itemIndex: number) => unknown) | null;
	/** In a tool: the deadline of the agent's call, in milliseconds since the Unix epoch. */
	callEndsAt?: number;
	/** After a sleep: the key scope (`keyScopeOfStep`), as read before the sleep. `undefined`: read it from the parameters. */
	keyScope?: string | null;
	/** The file of an item in a binary field, or at a path in its JSON. Throws if there is none. */
	file: (itemIndex: number, place: string) => IBinaryData;
}

/** Returns the step that n8n runs in this context. */
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

/** True in a helper execution that works for the sleeping step. `evaluate`, which only serves checks, is `null` then. */
export function isAfterSleep({ evaluate }: Pick<Step, 'evaluate'>): boolean {
	return evaluate === null;
}

/** Returns the caller for a context of n8n. If n8n has no signal (old releases, model lists), the signal never aborts. */
export function callerIn<Context extends Caller['n8n']>(context: Context) {
	const given = (context as IExecuteFunctions).getExecutionCancelSignal?.();
	return { n8n: context, node: context.getNode(), signal: given ?? new AbortController().signal };
}

/**
 * Returns a step that evaluates each parameter only once per item. An expression may return another value each time, such
 * as a key with a random part, but a step must use the same values before and after its sleep.
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
