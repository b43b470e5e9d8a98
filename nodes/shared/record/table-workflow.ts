import type { IDataObject, INodeExecutionData, INodeParameters, IWorkflowBase } from 'n8n-workflow';

import { raceAbort, toResult, withTimeout } from '../../../client/async';
import { UnansweredError } from '../../../client/orders/table';
import { wallClock } from '../http/clock';
import { helperWorkflow, withCallerSettings, type HelperNode } from '../helper-workflow';
import { tableError } from './data-table-errors';
import type { Step } from '../step';

/** Milliseconds to wait for a call. After this timeout it is unknown whether the table executed the call. */
const LONGEST_CALL_MS = 60_000;
/** Milliseconds that are added to `LONGEST_CALL_MS` for each row and each operation of the call. */
const LONGEST_ROW_MS = 50;

/** How long an AI agent's tool waits for the table after the deadline of the agent's call, in milliseconds. */
const GRACE_MS = 3_000;

/** The n8n expression by which later operations of a call read the output items of the second operation. */
export const OUTPUT_OF_SECOND = "$('Table 2').all()";

const DATA_TABLE = 'n8n-nodes-base.dataTable';

/**
 * One use of n8n's Data Table node. The node runs once or, with `eachRow`, for each of its input rows. Then the operation
 * `next` runs with the node's output rows.
 */
export interface Operation {
	parameters: INodeParameters & { resource: 'table' | 'row'; operation: string };
	eachRow?: boolean;
	/** True if the operations after this one run even if this one fails. */
	mayFail?: boolean;
	next?: Operation;
}

/**
 * Runs operations of n8n's Data Table node, one after the other, in one helper workflow. Returns the output of the last.
 * After a stop, starts the `final` operations without waiting for them, and throws UnansweredError. n8n may or may not have
 * carried out `operations` then. Throws all other errors as `tableError` explains them.
 */
export async function runTableNodes(
	step: Step,
	operations: Operation[],
	rows: IDataObject[] = [],
	final: Operation[] = [],
): Promise<INodeExecutionData[]> {
	const start = async (some: Operation[], doNotWaitToFinish: boolean) => {
		const input = rows.length > 0 ? rows.map((json) => ({ json })) : [{ json: {} }];
		const code = workflow(step, some);
		const running = step.n8n.executeWorkflow({ code }, input, undefined, { doNotWaitToFinish });
		const longestMs = LONGEST_CALL_MS + LONGEST_ROW_MS * (rows.length + some.length);
		return await raceAbort(AbortSignal.timeout(longestMs), withinCall(step, running));
	};
	const ran = await toResult(async () => {
		const { data } = await start(operations, false);
		if (!data?.[0]) throw new Error('The helper workflow returned no output');
		return data[0];
	});
	if (ran.ok) return ran.value;
	if (!step.signal.aborted) throw tableError(ran.error);
	if (final.length > 0) await start(final, true);
	throw new UnansweredError();
}

/**
 * Settles as `running` does. In a tool, throws UnansweredError `GRACE_MS` after the deadline of the agent's call. A Stop
 * does not end this wait: until n8n has ended the helper workflow, that could write a row that `final` has deleted.
 */
async function withinCall<T>({ callEndsAt, signal }: Step, running: Promise<T>): Promise<T> {
	if (callEndsAt === undefined) return await running;
	const leftMs = Math.max(1, callEndsAt + GRACE_MS - wallClock.now());
	const ran = await withTimeout(wallClock, leftMs, signal, async () => await running);
	if (ran === null) throw new UnansweredError();
	return ran;
}

function workflow(step: Step, operations: Operation[]): IWorkflowBase {
	let count = 0;
	const lineOf = ({ parameters, eachRow, mayFail, next }: Operation): HelperNode[] => [
		{
			name: `Table ${++count}`,
			type: DATA_TABLE,
			typeVersion: 1.1,
			executeOnce: !eachRow,
			...(mayFail && { onError: 'continueRegularOutput' }),
			parameters,
		},
		...(next ? lineOf(next) : []),
	];
	const code = helperWorkflow({
		name: `${step.node.name}: record`,
		lines: operations.map(lineOf),
		saved: 'none',
	});
	return withCallerSettings(step, code);
}
