import type { IExecuteFunctions } from 'n8n-workflow';

import { generationId, number, oneOf } from '../../client/input/checks';
import { downloadTarget, given, optionsOf, readinessOf, stepOptions, waitingOf } from '../shared/parameters';
import type { Plan } from '../shared/step';

/** Seconds. */
export const WAIT_TIMEOUT = 1800;

/**
 * Reads and checks one item's parameters.
 *
 * @throws InvalidInputError
 */
export function planWait(context: IExecuteFunctions, itemIndex: number): Plan {
	const options = optionsOf(context, itemIndex);
	const id = generationId('Generation ID', context.getNodeParameter('generationId', itemIndex, ''));
	const mode = oneOf('Mode', context.getNodeParameter('mode', itemIndex, 'poll'), [
		'poll',
		'suspend',
		'check',
	] as const);
	const since = context.getNodeParameter('waitingSince', itemIndex, '');
	return {
		job: {
			kind: 'collect',
			id,
			wait: mode !== 'check',
			...(given(since) && { waitingSinceMs: number('Waiting Since', since) }),
			readiness: readinessOf(options),
			...waitingOf(options, WAIT_TIMEOUT),
		},
		download: downloadTarget(context, itemIndex, options),
		step: stepOptions(options),
	};
}
