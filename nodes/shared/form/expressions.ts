import { truncate } from '../../../client/text';
import { InvalidInputError, toText } from './checks';
import { isAfterSleep, type Step } from '../step';

/** An expression within a text. The last one may be unclosed. */
const BRACED = /\{\{[^]*?(?:\}\}|$)/g;

/**
 * The expressions that n8n joins into a text, with their values. One that fails by itself is left out. Empty for a single
 * expression, for a text with escaped braces, and after a sleep. `written`: the parameter before evaluation.
 */
function partsOf({ evaluate }: Step, itemIndex: number, written: unknown) {
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
 * Requires that each expression within a text has a value. n8n leaves out an undefined one, and the request would be
 * charged without it. Throws InvalidInputError that names the expression.
 */
export function requireParts(step: Step, itemIndex: number, label: string, written: unknown): void {
	for (const { expression, value } of partsOf(step, itemIndex, written)) {
		if (value !== undefined && !Number.isNaN(value)) continue;
		throw new InvalidInputError(
			`A part of ${label} has no value for this item: ${truncate(expression)}`,
			"Check the names in the expression. If some items do not have this value, write it as {{ $json.name ?? '' }}.",
		);
	}
}

/** What JavaScript makes of a missing value within a text. Base64 may contain the short one by chance. */
const NO_VALUE = /undefined|invalid date|(?<![\w+/])nan(?![\w+/=])/i;

/**
 * Requires that an idempotency key is made of values: items with different prompts would share any other one. Throws
 * InvalidInputError.
 */
export function requireKeyValues(step: Step, itemIndex: number, written: unknown, key: string) {
	if (typeof written !== 'string' || !written.startsWith('=') || isAfterSleep(step)) return;
	const isOfData = NO_VALUE.test(written + toText(step.items[itemIndex].json));
	const parts = partsOf(step, itemIndex, written);
	const isEmpty = parts.every(({ value }) => String(value ?? '').trim() === '');
	if ((!NO_VALUE.test(key) || isOfData) && (parts.length === 0 || !isEmpty)) return;
	throw new InvalidInputError(
		`A part of Idempotency Key has no value: ${truncate(key)}`,
		'Items with the same idempotency key share one generation. Use a value in the expression that each item has.',
	);
}
