import { limitOption, number, oneOf } from '../shared/form/checks';
import { collection, readForm } from '../shared/form/form';
import { creditsFields } from './fields';
import type { Step } from '../shared/step';

const OPERATIONS = ['getBalance', 'getSummary'] as const;
/** The two operations of the node. */
type Operation = (typeof OPERATIONS)[number];

/**
 * Reads and validates one item's parameters.
 *
 * @returns the operation, and the minimum balance in credits; `null` if no minimum is set
 * @throws InvalidInputError
 */
export function readCreditsForm(
	step: Step,
	itemIndex: number,
): { operation: Operation; minimum: number | null } {
	const form = readForm(step, itemIndex, creditsFields);
	return {
		operation: oneOf('Operation', form.operation ?? 'getBalance', OPERATIONS),
		minimum: limitOption('Minimum Balance', collection(form, 'options'), 'minimumBalance', number),
	};
}
