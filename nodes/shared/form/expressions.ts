import { truncate } from '../../../client/text';
import { InvalidInputError } from './checks';
import type { Step } from '../step';

/** Matches each expression in a text, with its braces. At the end of the text, the closing braces may be missing. */
const BRACED = /\{\{[^]*?(?:\}\}|$)/g;

/**
 * Throws InvalidInputError if an expression within a text is undefined: n8n would replace it by nothing, and the request
 * would be charged without that part. Not checked: a lone expression (`plainValue` in form.ts does that), a text with
 * escaped braces, and a step after a sleep (it was checked before).
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
	// A lone expression keeps the type of its value. With anything beside it, even a blank, n8n returns text.
	if (found[0] === written.slice(1) || /\\(\{\{|\}\})/.test(written)) return;
	for (const expression of found) {
		let value: unknown = null;
		try {
			value = evaluate(expression, itemIndex);
		} catch {
			// `valueAt` evaluates the whole text after this check, and reports n8n's error if that fails.
		}
		if (value !== undefined && !Number.isNaN(value)) continue;
		throw new InvalidInputError(
			`A part of ${label} has no value for this item: ${truncate(expression)}`,
			"Check the names in the expression. If some items do not have this value, write it as {{ $json.name ?? '' }}.",
		);
	}
}
