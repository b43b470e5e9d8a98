import type { INodeProperties } from 'n8n-workflow';

import type { PlanItem } from '../form/plan-items';
import type { Noun } from './workflows';

/** A node whose step can sleep. */
export interface Sleeper {
	noun: Noun;
	/** True if the node creates no generations, so that nothing can be charged. */
	createsNothing: boolean;
	/** Advice for a step that failed after a sleep: n8n does not run it again. */
	howToGoOn: string;
	fields: INodeProperties[];
	/** Reads and validates one item's parameters; throws `InvalidInputError`. */
	plan: PlanItem;
}
