import {
	NodeApiError,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
} from 'n8n-workflow';

import { GenerationError } from '../../../client/api/errors';
import { attempt, type Attempt } from '../../../client/async';
import type { CreateJob } from '../../../client/job';
import type { Outcome } from '../../../client/outcome';
import { rowOf, rowsOfBatch, type Unrecorded } from '../../../client/wave';
import { continuesOnError } from '../execution';
import { stepError } from '../output/node-error';
import type { Output } from '../output/results';
import { rowsOf } from '../record/record';
import { runToEnd, type Failures } from '../run-node';
import { startOf } from '../run-plans';
import type { Plan } from '../form/plan-items';
import { messageItem, type BatchState, type StepFailure } from './batch-state';
import { fetching } from './wave';

/** What the waves reported. */
type Fetched = Pick<BatchState, 'spent' | 'unrecorded'>;

/**
 * Fetches the results of a batch when all of its items have ended: the same output as that of a step that polls.
 *
 * @param context acts as the step
 * @param failures the errors of items without a result to fetch
 * @param state the generations that are not in the record, and the number of creating requests of the batch that were
 * charged, or may have been
 * @returns the output items, or an item that `throwFailure` reads
 */
export async function results(
	context: IExecuteFunctions,
	planned: Plan[],
	failures: Failures,
	state: Fetched,
): Promise<INodeExecutionData[][]> {
	const fetched = await attempt(async () => await fetchResults(context, planned, failures, state));
	if (fetched.ok) return fetched.value;
	if (fetched.error instanceof NodeApiError) return [[failureItem(fetched.error)]];
	throw fetched.error;
}

async function fetchResults(
	context: IExecuteFunctions,
	planned: Plan[],
	failures: Failures,
	{ spent, unrecorded }: Fetched,
) {
	const jobs = planned.map(({ job }) => job as CreateJob);
	const rows = await rowsByKey(context, jobs, unrecorded);
	const first = failures.findIndex((errors) => errors.length > 0);
	if (first >= 0 && !continuesOnError(context)) {
		const known = new Map(planned.map(({ job }) => [job.itemIndex, rowOf(rows, job as CreateJob)]));
		const all = failures.map(([error], itemIndex): Outcome<unknown> => {
			if (error) return { kind: 'error', error };
			const row = known.get(itemIndex);
			const generation = row ? { id: row.generation_id, status: row.status } : null;
			return { kind: 'stopped', generation };
		});
		throw stepError(context, failures[first][0], first, all);
	}
	const plans = planned.map((plan) => fetching(plan, rows));
	const start = startOf(context);
	// An item is created here if its row was deleted meanwhile.
	const options = { ...start.options, spentBefore: spent };
	return await runToEnd(context, { ...start, options }, plans, failures);
}

/**
 * The errors of a batch that is given up. An item keeps the error that it had, and names the generation that is on
 * record for it.
 *
 * @param context acts as the step
 * @param plans of the step's items
 * @param state what the waves reported
 * @param error of the batch
 */
export async function lastKnown(
	context: IExecuteFunctions,
	plans: Array<Attempt<Plan[]>>,
	{ settled, unrecorded }: Pick<BatchState, 'settled' | 'unrecorded'>,
	error: GenerationError,
): Promise<Array<Outcome<Output>>> {
	const jobs = plans.map((planned) => (planned.ok ? (planned.value[0].job as CreateJob) : null));
	const keyed = jobs.filter((job) => job !== null);
	const read = await attempt(async () => await rowsByKey(context, keyed, unrecorded));
	return jobs.map((job, itemIndex): Outcome<Output> => {
		const own = settled[itemIndex];
		if (own) return { kind: 'error', error: new GenerationError(own) };
		const row = job && read.ok ? rowOf(read.value, job) : undefined;
		if (!row) return { kind: 'error', error };
		const generation = { id: row.generation_id, status: row.status };
		return { kind: 'error', error: error.with({ charge: 'paid', generation }) };
	});
}

async function rowsByKey(context: IExecuteFunctions, jobs: CreateJob[], unrecorded: Unrecorded) {
	const rows = await rowsOf(context, jobs, Object.values(unrecorded));
	return rowsOfBatch(rows, unrecorded);
}

function failureItem({
	message,
	description,
	httpCode,
	context,
}: NodeApiError): INodeExecutionData {
	const failure: StepFailure = {
		message,
		description: description ?? null,
		httpCode,
		context: { ...context } as IDataObject,
	};
	return messageItem({ failure });
}

/** @throws NodeApiError if there is a failure of the step */
export function throwFailure(context: IExecuteFunctions, failure: StepFailure | undefined): void {
	if (!failure) return;
	const { message, description, httpCode } = failure;
	const fields = { message, httpCode: httpCode ?? undefined };
	const error = new NodeApiError(context.getNode(), {}, fields);
	error.message = message;
	error.description = description;
	Object.assign(error.context, failure.context);
	throw error;
}
