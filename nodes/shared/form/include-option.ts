import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { runsAsTool } from '../execution';
import { InvalidInputError, requiredText } from './checks';
import { GENERATION_FIELD } from './fields';
import { booleanOr, optionByPath, textIfSet, type Options } from './parameters';

/** The option that returns the input item, with the generation in one of its fields. */

/** The name of the option, and that of the field's name. */
const INCLUDE = 'includeOtherFields';
const FIELD = 'generationField';

/** The fields beside the generation that say why it failed. */
const OF_FAILURES = ['error', 'error_code'];

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

/** What an output item keeps of its input item, and the field of the generation in it. */
export interface KeptInput {
	json: IDataObject;
	binary: INodeExecutionData['binary'];
	field: string;
}

/**
 * What the output of an item keeps of its input; `null` if it is the generation alone. Never throws: an invalid item is
 * returned as well.
 */
export function keptInput(context: IExecuteFunctions, itemIndex: number): KeptInput | null {
	if (!isIncluded(context, itemIndex)) return null;
	// Some nodes return an item with a file only.
	const { json = {}, binary } = context.getInputData()[itemIndex] as Partial<INodeExecutionData>;
	return {
		json: keptFields(context, json),
		// A tool returns JSON only.
		binary: runsAsTool(context) ? undefined : binary,
		field: fieldOf(context, itemIndex),
	};
}

/** With Retry On Fail, n8n runs a step again if its first output item has a field `error`. */
function keptFields(context: IExecuteFunctions, json: IDataObject): IDataObject {
	if (!context.getNode().retryOnFail) return json;
	return Object.fromEntries(Object.entries(json).filter(([name]) => name !== 'error'));
}

function isIncluded(context: IExecuteFunctions, itemIndex: number): boolean {
	const { options = {} } = context.getNode().parameters;
	if (typeof options !== 'string' && (options as Options)[INCLUDE] === undefined) return false;
	try {
		return booleanOr(false, INCLUDE, optionByPath(context, itemIndex, 'options', INCLUDE));
	} catch {
		return false;
	}
}

function fieldOf(context: IExecuteFunctions, itemIndex: number): string {
	try {
		const name = optionByPath(context, itemIndex, 'options', FIELD);
		const isEmpty = String(name ?? '').trim() === '';
		const field = isEmpty ? GENERATION_FIELD : requiredText(FIELD, name);
		return OF_FAILURES.includes(field) ? GENERATION_FIELD : field;
	} catch {
		return GENERATION_FIELD;
	}
}
