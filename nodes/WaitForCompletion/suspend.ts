import type { NodeProfile } from '../shared/sleep/state';
import { waitFields } from './fields';
import { planWait } from './request';

/** How Wait for Completion sleeps: as the creating nodes do, but without creating anything. */
export const waitingProfile: NodeProfile = {
	noun: 'suspended wait',
	createsNothing: true,
	howToGoOn:
		'Wait for the same generations again by their IDs in a new execution, at no charge. Retry in the executions list only shows this error again, without a new status check',
	fields: waitFields,
	plan: planWait,
};
