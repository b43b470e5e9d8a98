import { truncate } from '../../../client/text';
import { InvalidInputError } from './checks';
import type { Step } from '../step';

/** An expression within a text. The last one may be unclosed. */
const BRACED = /\{\{[^]*?(?:\}\}|$)/g;

/**
 * Requires that each expression within a text has a value. n8n leaves out an undefined one, and the request would be
 * charged without it. Not checked: a single expression, a text with escaped braces, and a step after its sleep. Throws
 * InvalidInputError that names the expression.
 *
 * @param written the parameter before evaluation
 */
export function requireParts(
	{ evaluate }: Step,
	itemIndex: number,
	label: string,
	written: unknown,
): void {
	if (evaluate === null || typeof written !== 'string' || !written.startsWith('=')) return;
	const found = written.match(BRACED) ?? [];
	// Anything beside a single expression, even a blank, makes a text of it.
	if (found[0] === written.slice(1) || /\\(\{\{|\}\})/.test(written)) return;
	for (const expression of found) {
		let value: unknown = null;
		try {
			value = evaluate(expression, itemIndex);
		} catch {
			// n8n has evaluated the whole text without an error.
		}
		if (value !== undefined && !Number.isNaN(value)) continue;
		throw new InvalidInputError(
			`A part of ${label} has no value for this item: ${truncate(expression)}`,
			"Check the names in the expression. If some items do not have this value, write it as {{ $json.name ?? '' }}.",
		);
	}
}
