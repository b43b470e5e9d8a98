import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { GenerationError } from '../../../client/api/errors';
import type { Result } from '../../../client/async';
import type { Outcome } from '../../../client/jobs/outcome';
import type { Plan, PlanItem } from '../form/plan-items';
import type { Output } from '../output/results';
import type { Report, SleepState } from './state';
import type { Noun } from './workflows';
import type { Step } from '../step';

/** A node whose step can sleep: what its helper executions do for it. `step` is the step that sleeps, from `stepOf`. */
export interface Sleeper<State extends SleepState = SleepState> {
	noun: Noun;
	/** True if the node creates no generations, so that nothing can be charged. */
	createsNothing: boolean;
	/** Advice for a step that failed after a sleep: n8n does not run it again. */
	howToGoOn: string;
	fields: INodeProperties[];
	/** Reads and validates one item's parameters; throws `InvalidInputError`. */
	plan: PlanItem;
	/** Runs one wave with the valid items of the step. */
	work(step: Step, planned: Plan[], state: State): Promise<Report>;
	/** After the user has stopped the step: the last chance to write what a wave could not, and to log what it created. */
	stopped?(step: Step, report: Report): Promise<void>;
	/** Ids of charged generations without a row, to be logged when the step was stopped. */
	lost?(state: State): string[];
	/** Fetches the results when all items have ended. Throws `NodeApiError` as the step does. */
	results(step: Step, plans: Array<Result<Plan[]>>, state: State): Promise<INodeExecutionData[][]>;
	/** The errors of a step that is given up: of each item its own, or else `error` with the generation of the item. */
	lastKnown(
		step: Step,
		plans: Array<Result<Plan[]>>,
		state: State,
		error: GenerationError,
	): Promise<Array<Outcome<Output>>>;
}
