import type { INodeExecutionData } from 'n8n-workflow';

import { runsAsTool } from '../execution';
import { InvalidInputError, requiredText } from './checks';
import { GENERATION_FIELD } from './fields';
import { booleanOr, optionByPath, textIfSet, type Options } from './parameters';
import type { Step } from '../step';

/** The option that returns the input item, with the generation in one of its fields. */

/** The name of the option, and the name of the option that names the field. */
const INCLUDE = 'includeOtherFields';
const FIELD = 'generationField';

/** The fields beside the generation that say why it failed. */
export const OF_FAILURES = ['error', 'error_code'];

/**
 * Checks the option of an item, and the name of the field.
 *
 * @throws InvalidInputError
 */
export function requireIncludeOption(options: Options): void {
	if (!booleanOr(false, 'Include Other Input Fields', options[INCLUDE])) return;
	const label = 'Put Generation in Field';
	const field = textIfSet(label, options[FIELD]);
	if (field === null || !OF_FAILURES.includes(field)) return;
	throw new InvalidInputError(
		`${label} cannot be "${field}"`,
		'A failed item has its error in this field. Use another name, such as generation.',
	);
}

/**
 * What the output of an item keeps of its input, and the field of the generation in it; `null` if it is the generation
 * alone. Never throws: an invalid item is returned as well.
 */
export function keptInput(step: Step, itemIndex: number) {
	if (!isIncluded(step, itemIndex)) return null;
	// Some nodes return an item with a file only.
	const { json = {}, binary } = step.items[itemIndex] as Partial<INodeExecutionData>;
	return {
		json,
		// A tool returns JSON only.
		binary: runsAsTool(step) ? undefined : binary,
		field: fieldOf(step, itemIndex),
	};
}

function isIncluded(step: Step, itemIndex: number): boolean {
	const { options = {} } = step.node.parameters;
	if (typeof options !== 'string' && (options as Options)[INCLUDE] === undefined) return false;
	try {
		return booleanOr(false, INCLUDE, optionByPath(step, itemIndex, 'options', INCLUDE));
	} catch {
		return false;
	}
}

function fieldOf(step: Step, itemIndex: number): string {
	try {
		const name = optionByPath(step, itemIndex, 'options', FIELD);
		const isEmpty = String(name ?? '').trim() === '';
		const field = isEmpty ? GENERATION_FIELD : requiredText(FIELD, name);
		return OF_FAILURES.includes(field) ? GENERATION_FIELD : field;
	} catch {
		return GENERATION_FIELD;
	}
}
