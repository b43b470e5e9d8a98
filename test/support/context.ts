import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

/** What a test gives of the world in which a node's helpers run. */
export interface Given {
	/** One set for each item; a single one stands for all. */
	parameters?: IDataObject | IDataObject[];
	items?: INodeExecutionData[];
	credentials?: IDataObject;
	node?: Partial<INode>;
	continueOnFail?: boolean;
	cancel?: AbortSignal;
	isTool?: boolean;
	runIndex?: number;
	/** What n8n keeps with the execution. */
	kept?: IDataObject;
	helpers?: Partial<Record<keyof IExecuteFunctions['helpers'], unknown>>;
}

/** What the helpers did to that world. */
export interface Taken {
	context: IExecuteFunctions;
	warnings: Array<{ message: string; meta: object | undefined }>;
	/** Those in the log. */
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

/** A context with as much of n8n in it as the helpers of `nodes/shared` ask for. */
export function contextOf(given: Given = {}): Taken {
	const warnings: Taken['warnings'] = [];
	const errors: Taken['errors'] = [];
	const hints: object[] = [];
	const items = given.items ?? [{ json: {} }];
	const { parameters = {} } = given;
	const kept = given.kept ?? {};
	const context = {
		getNode: () => ({ ...NODE, ...given.node }),
		getInputData: () => items,
		getCredentials: async () => given.credentials ?? {},
		getContext: () => kept,
		getWorkflowDataProxy: () => ({ $runIndex: given.runIndex }),
		getNodeParameter: (name: string, itemIndex: number, fallback?: unknown, options?: object) => {
			const set: IDataObject = Array.isArray(parameters) ? parameters[itemIndex] : parameters;
			const value = name in set ? set[name] : fallback;
			const extracted = options && 'extractValue' in options && value;
			return extracted && typeof extracted === 'object' ? (extracted as IDataObject).value : value;
		},
		continueOnFail: () => given.continueOnFail ?? false,
		isToolExecution: () => given.isTool ?? false,
		getExecutionCancelSignal: () => given.cancel,
		addExecutionHints: (...added: object[]) => hints.push(...added),
		logger: {
			warn: (message: string, meta?: object) => warnings.push({ message, meta }),
			error: (message: string, meta?: object) => errors.push({ message, meta }),
		},
		helpers: given.helpers ?? {},
	};
	return { context: context as unknown as IExecuteFunctions, warnings, errors, hints };
}
