import type { IExecuteFunctions } from 'n8n-workflow';

import { GenerationError } from '../../client/api/errors';
import { generationId, number, oneOf } from '../../client/input';
import { collection, readForm, type Form } from '../shared/form/form';
import {
	choiceOf,
	downloadTarget,
	isSet,
	requireIncludeOption,
	waitingOf,
} from '../shared/form/parameters';
import type { Plan } from '../shared/form/plan-items';
import { stepOptions } from '../shared/form/step-options';
import { WAIT_TIMEOUT, waitFields } from './fields';

const MODES = ['poll', 'suspend', 'check'] as const;

/**
 * Reads and validates one item's parameters.
 *
 * @returns the generation to wait for, its run settings and its download
 * @throws InvalidInputError
 * @throws GenerationError the error of an earlier node, if the item carries one and no id
 */
export function planWait(context: IExecuteFunctions, itemIndex: number): Plan {
	const form = readForm(context, itemIndex, waitFields);
	const options = collection(form, 'options');
	const runOptions = collection(form, 'runOptions');
	const since = form.waitingSince;
	// Validates these options on every item, although the step uses those of its first item.
	stepOptions(runOptions);
	requireIncludeOption(options);
	return {
		job: {
			kind: 'collect',
			itemIndex,
			id: idOf(context, itemIndex, form),
			wait: oneOf('Mode', form.mode ?? 'poll', MODES) !== 'check',
			...(isSet(since) && { waitingSinceMs: number('Waiting Since', since) }),
			readiness: choiceOf(runOptions, 'readiness'),
			...waitingOf(runOptions, WAIT_TIMEOUT),
		},
		download: downloadTarget(form, options),
	};
}

/** @throws GenerationError the error of an earlier node, if the item carries one and no id */
function idOf(context: IExecuteFunctions, itemIndex: number, { generationId: id }: Form): string {
	const came = id === null ? errorOfInput(context, itemIndex) : null;
	if (came !== null) {
		const { error: title, error_code: code } = came;
		throw new GenerationError({
			title,
			description:
				'An earlier node failed for this item, so there is no generation ID to wait for. Remove such items with a Filter node, or set On Error to Continue',
			code,
			charge: code === 'uncertain_charge' ? 'unknown' : 'none',
		});
	}
	return generationId('Generation ID', id);
}

/** The error of an earlier node that continued on error; `null` if the item carries none. */
export function errorOfInput(
	context: IExecuteFunctions,
	itemIndex: number,
): { error: string; error_code: string } | null {
	const { error, error_code } = context.getInputData()[itemIndex].json;
	return typeof error === 'string' && typeof error_code === 'string' ? { error, error_code } : null;
}

/**
 * The mode of the first item, not validated. `undefined` if its expression fails; `planWait` reports that
 * error.
 */
export function modeOfFirst(context: IExecuteFunctions): unknown {
	try {
		return context.getNodeParameter('mode', 0);
	} catch {
		return undefined;
	}
}
