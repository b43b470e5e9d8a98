import { InvalidInputError, number, oneOf } from '../shared/form/checks';
import { collection, readForm, type Form } from '../shared/form/form';
import { isSet } from '../shared/form/parameters';
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
		minimum: minimumBalance(step, collection(form, 'options')),
	};
}

/**
 * Reads the minimum balance. An empty result of an expression is an error, because the batch would run
 * unguarded.
 */
function minimumBalance(step: Step, options: Form): number | null {
	if (isSet(options.minimumBalance)) return number('Minimum Balance', options.minimumBalance);
	if (!isExpression(step, 'minimumBalance')) return null;
	throw new InvalidInputError(
		'Minimum Balance is empty for this item, so there is no minimum to check',
		'Check that the expression returns a number for this item, or remove the option.',
	);
}

function isExpression(step: Step, option: string): boolean {
	const written = (step.node.parameters.options as Form | undefined)?.[option];
	return typeof written === 'string' && written.startsWith('=');
}
