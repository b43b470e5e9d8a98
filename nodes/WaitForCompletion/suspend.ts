import type { Sleeper } from '../shared/sleep/state';
import { waitFields } from './fields';
import { planWait } from './request';

/** The suspended wait: a step that sleeps, with nothing to create. */
export const suspendedWait: Sleeper = {
	noun: 'suspended wait',
	createsNothing: true,
	howToGoOn:
		'Wait for the same generations again by their IDs in a new execution, at no charge. Retry in the executions list only shows this error again, without a new status check',
	fields: waitFields,
	plan: planWait,
};
