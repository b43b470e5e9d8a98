import { undefinedPart } from './checks';
import type { Step } from '../step';

/** An expression within a text. The last one may be unclosed. */
const BRACED = /\{\{[^]*?(?:\}\}|$)/g;

/**
 * The expressions that n8n joins into a text, with their values. One that fails by itself is left out. Empty for a single
 * expression, for a text with escaped braces, and after a sleep.
 *
 * @param written the parameter before evaluation
 */
export function partsOf({ evaluate }: Step, itemIndex: number, written: unknown) {
	if (evaluate === null || typeof written !== 'string' || !written.startsWith('=')) return [];
	const found = written.match(BRACED) ?? [];
	// Anything beside a single expression, even a blank, makes a text of it.
	if (found[0] === written.slice(1) || /\\(\{\{|\}\})/.test(written)) return [];
	return found.flatMap((expression) => {
		try {
			return [{ expression, value: evaluate(expression, itemIndex) }];
		} catch {
			return [];
		}
	});
}

/**
 * Requires that each expression within a text has a value. n8n leaves out an undefined one, and the request would be charged
 * without it.
 *
 * @throws InvalidInputError that names the expression
 */
export function requireParts(step: Step, itemIndex: number, label: string, written: unknown): void {
	for (const { expression, value } of partsOf(step, itemIndex, written)) {
		if (value === undefined || Number.isNaN(value)) throw undefinedPart(label, expression);
	}
}
