import type { IExecuteFunctions } from 'n8n-workflow';

import { GenerationError } from '../../client/wire/errors';
import { generationId, number, oneOf } from '../../client/input/checks';
import { collection, readForm, type Form } from '../shared/form';
import { downloadTarget, given, readinessOf, stepOptions, waitingOf } from '../shared/parameters';
import type { CollectJob } from '../../client/jobs/job';
import type { Plan } from '../shared/step';
import { WAIT_TIMEOUT, waitFields } from './fields';

const MODES = ['poll', 'suspend', 'check'] as const;

export interface WaitPlan extends Plan {
	job: Omit<CollectJob, 'itemIndex'>;
}

/**
 * Reads and checks one item's parameters.
 *
 * @throws InvalidInputError
 */
export function planWait(context: IExecuteFunctions, itemIndex: number): WaitPlan {
	const form = readForm(context, itemIndex, waitFields);
	const options = collection(form, 'options');
	const since = form.waitingSince;
	// Every item is checked, although the step reads these from its first item.
	stepOptions(options);
	return {
		job: {
			kind: 'collect',
			id: idOf(context, itemIndex, form),
			wait: oneOf('Mode', form.mode ?? 'poll', MODES) !== 'check',
			...(given(since) && { waitingSinceMs: number('Waiting Since', since) }),
			readiness: readinessOf(options),
			...waitingOf(options, WAIT_TIMEOUT),
		},
		download: downloadTarget(form, options),
	};
}

/** @throws the error that an item came with, where a node before has come to no generation */
function idOf(context: IExecuteFunctions, itemIndex: number, { generationId: id }: Form): string {
	const came = id === null ? errorOfInput(context, itemIndex) : null;
	if (came !== null) {
		const { error: title, error_code: code } = came;
		throw new GenerationError({
			title,
			description:
				'The item came with this error, and with no generation to wait for. Filter such items out before this node, or let it go on with the others: On Error, Continue',
			code,
			charge: code === 'uncertain_charge' ? 'unknown' : 'none',
		});
	}
	return generationId('Generation ID', id);
}

/** The error that an item brought along in place of a generation, from a node that went on with it; `null` if none. */
export function errorOfInput(
	context: IExecuteFunctions,
	itemIndex: number,
): { error: string; error_code: string } | null {
	const { error, error_code } = context.getInputData()[itemIndex].json;
	return typeof error === 'string' && typeof error_code === 'string' ? { error, error_code } : null;
}

/** The mode of the first item, unchecked; `undefined` where n8n cannot work it out, of which `planWait` tells. */
export function modeOfFirst(context: IExecuteFunctions): unknown {
	try {
		return context.getNodeParameter('mode', 0);
	} catch {
		return undefined;
	}
}
