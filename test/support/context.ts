import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import { stepIn, type Step } from '../../nodes/shared/step';

/** The parts of a node's execution context that a test sets. */
export interface Given {
	/** One set for each item, or one set for all items. */
	parameters?: IDataObject | IDataObject[];
	items?: INodeExecutionData[];
	credentials?: IDataObject;
	node?: Partial<INode>;
	continueOnFail?: boolean;
	cancel?: AbortSignal;
	isTool?: boolean;
	runIndex?: number;
	/** Set in a case of an evaluation, also in its sub-workflows. */
	evaluation?: { runId: string };
	/** The data that n8n stores with the execution. */
	kept?: IDataObject;
	helpers?: Partial<Record<keyof IExecuteFunctions['helpers'], unknown>>;
}

/** A step, and what it recorded in its execution. */
interface Taken {
	context: IExecuteFunctions;
	step: Step;
	warnings: Array<{ message: string; meta: object | undefined }>;
	/** Errors in the log. */
	errors: Taken['warnings'];
	hints: object[];
}

export const NODE: INode = {
	id: 'node-1',
	name: 'Pictures',
	type: 'n8n-nodes-media-generation.imageGeneration',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/** Returns an execution context with only those parts of n8n that the helpers in `nodes/shared` use. */
export function contextOf(given: Given = {}): Taken {
	const warnings: Taken['warnings'] = [];
	const errors: Taken['errors'] = [];
	const hints: object[] = [];
	const items = given.items ?? [{ json: {} }];
	const { parameters = {} } = given;
	const kept = given.kept ?? {};
	const fake = {
		getNode: () => ({
			...NODE,
			parameters: Object.assign({}, ...[parameters].flat()) as INode['parameters'],
			...(given.continueOnFail && { onError: 'continueRegularOutput' }),
			...given.node,
		}),
		getExecutionId: () => 'execution-1',
		getInputData: () => items,
		getCredentials: async () => given.credentials ?? {},
		getContext: () => kept,
		getWorkflowDataProxy: () => ({
			$runIndex: given.runIndex,
			$evaluation: given.evaluation,
		}),
		getNodeParameter: (name: string, itemIndex: number, fallback?: unknown, options?: object) => {
			const set: IDataObject = Array.isArray(parameters) ? parameters[itemIndex] : parameters;
			const found = name
				.split(/[.[\]]+/)
				.reduce<unknown>((group, part) => (group as IDataObject | undefined)?.[part], set);
			const value = found === '={{ undefined }}' ? undefined : (found ?? fallback);
			const extracted = options && 'extractValue' in options && value;
			return extracted && typeof extracted === 'object' ? (extracted as IDataObject).value : value;
		},
		isToolExecution: () => given.isTool ?? false,
		getExecutionCancelSignal: () => given.cancel,
		addExecutionHints: (...added: object[]) => hints.push(...added),
		logger: {
			warn: (message: string, meta?: object) => warnings.push({ message, meta }),
			error: (message: string, meta?: object) => errors.push({ message, meta }),
		},
		helpers: given.helpers ?? {},
	};
	const context = fake as unknown as IExecuteFunctions;
	return { context, step: stepIn(context), warnings, errors, hints };
}
