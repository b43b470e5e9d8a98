import type { IExecuteFunctions } from 'n8n-workflow';

import { optionsOf, type Options } from './parameters';

/** Parameters as a sleep stores them: evaluated, and not validated. An expression that fails stops no other item. */

/**
 * One of an item's collections, not validated. `null` for each option whose expression fails. That is an error of the
 * item, but other options may apply to the whole step, or to how the error is returned. Never throws.
 */
export function evaluatedOptions(
	context: IExecuteFunctions,
	itemIndex: number,
	name: 'options' | 'runOptions',
): Options {
	try {
		return optionsOf(context, itemIndex, name);
	} catch {
		const written = context.getNode().parameters[name];
		// If one expression returns the whole collection, no option can be read.
		const added = typeof written === 'object' ? Object.keys(written as Options) : [];
		const read = (option: string) => parameterOrNull(context, `${name}.${option}`, itemIndex);
		return Object.fromEntries(added.map((option) => [option, read(option)]));
	}
}

/** Returns a parameter, not validated; `null` if its expression fails, which is an error of its item. Never throws. */
export function parameterOrNull(
	context: IExecuteFunctions,
	name: string,
	itemIndex: number,
	fallback: unknown = null,
): unknown {
	try {
		return context.getNodeParameter(name, itemIndex, fallback);
	} catch {
		return null;
	}
}
