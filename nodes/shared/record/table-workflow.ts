import type {
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeParameters,
	IWorkflowBase,
} from 'n8n-workflow';

import { attempt } from '../../../client/async';
import { UnansweredError } from '../../../client/paying/record-store';
import { raceAbort } from '../http/abort';
import { inPlainWords } from './data-table-errors';
import { cancelSignal } from '../execution';

/** Milliseconds to wait for a call. After this timeout it is unknown whether the table executed the call. */
const LONGEST_CALL_MS = 60_000;
/** Extra milliseconds for each row of the call. */
const LONGEST_ROW_MS = 50;

const DATA_TABLE = 'n8n-nodes-base.dataTable';

/**
 * Parameters of the Data Table node. Values are passed as input items, because n8n evaluates parameter text
 * that starts with `=`.
 */
export type Call = INodeParameters & { resource: 'table' | 'row'; operation: string };

/**
 * Runs n8n's Data Table node once over the items, in a helper workflow.
 *
 * When the workflow times out, n8n also ends every helper workflow that is awaited. It is then unknown whether
 * the call was executed, so an output without rows proves nothing.
 *
 * @param final a write that must not be lost. If the execution was stopped, the call is started once more and
 * not awaited.
 * @returns the output items
 * @throws UnansweredError if the execution was stopped before n8n answered
 * @throws Error with a readable message if n8n rejects the call or does not answer in time
 */
export async function runTableNode(
	context: IExecuteFunctions,
	parameters: Call,
	items: IDataObject[],
	final = false,
): Promise<INodeExecutionData[]> {
	const input = items.map((json) => ({ json }));
	const start = async (doNotWaitToFinish: boolean) => {
		const code = workflow(context, parameters);
		const running = context.executeWorkflow({ code }, input, undefined, { doNotWaitToFinish });
		const longest = AbortSignal.timeout(LONGEST_CALL_MS + LONGEST_ROW_MS * items.length);
		return await raceAbort(longest, running);
	};
	const ran = await attempt(async () => {
		const { data } = await start(false);
		if (!data?.[0]) throw new Error('The helper workflow returned no output');
		return data[0];
	});
	if (ran.ok) return ran.value;
	if (!cancelSignal(context).aborted) throw new Error(inPlainWords(ran.error));
	if (final) await start(true);
	throw new UnansweredError();
}

function workflow(context: IExecuteFunctions, parameters: Call): IWorkflowBase {
	const nodes: Array<Partial<INode>> = [
		{
			name: 'Rows',
			type: 'n8n-nodes-base.executeWorkflowTrigger',
			typeVersion: 1.1,
			parameters: { inputSource: 'passthrough' },
		},
		{ name: 'Table', type: DATA_TABLE, typeVersion: 1.1, parameters },
	];
	return {
		name: `${context.getNode().name}: record`,
		nodes: nodes.map((node, index) => ({
			id: `record-${index}`,
			position: [220 * index, 0],
			...node,
		})),
		connections: { Rows: { main: [[{ node: 'Table', type: 'main', index: 0 }]] } },
		settings: {
			executionOrder: 'v1',
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			// The instance's default may allow no callers.
			callerPolicy: 'workflowsFromSameOwner',
		},
		active: false,
	} as unknown as IWorkflowBase;
}
