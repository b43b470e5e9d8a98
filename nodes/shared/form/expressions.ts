import { truncate } from '../../../client/text';
import { InvalidInputError } from './checks';
import type { Step } from '../step';

/** Matches each expression in a text, with its braces. At the end of the text, the closing braces may be missing. */
const BRACED = /\{\{[^]*?(?:\}\}|$)/g;

/**
 * Throws InvalidInputError if an expression within a text is undefined: n8n would replace it by nothing, and the request
 * would be charged without that part. Skips a text that is a single expression (`plainValue` in form.ts checks it), a text
 * with escaped braces, and any text after a sleep: texts were checked before the sleep.
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
	// No `trim`: with a blank beside the expression, n8n returns text, and `plainValue` cannot see an `undefined`.
	if (found[0] === written.slice(1) || /\\(\{\{|\}\})/.test(written)) return;
	for (const expression of found) {
		let value: unknown = null;
		try {
			value = evaluate(expression, itemIndex);
		} catch {
			// `valueAt`, which called this function, evaluates the whole text next, and reports n8n's error.
		}
		if (value !== undefined && !Number.isNaN(value)) continue;
		throw new InvalidInputError(
			`A part of ${label} has no value for this item: ${truncate(expression)}`,
			"Check the names in the expression. If some items do not have this value, write it as {{ $json.name ?? '' }}.",
		);
	}
}
