import { jsonParse } from 'n8n-workflow';

import { FreshValue } from '../../../client/api/fresh-value';
import { InvalidInputError, isObject, toPlainValue } from './checks';
import type { Values } from './form';

const FIELD = 'Additional Body Fields';

/** Names that a user may not add. With `n`, a request would be charged for several outputs, but only one is returned. */
const RESERVED = ['model', 'prompt', 'inputs', 'n'];

/**
 * Returns the additional fields of a request. `value`: a JSON object, as text or parsed. Throws InvalidInputError if the
 * value is no JSON object, contains `undefined`, or sets a field that only the form may set.
 */
export function additionalFields(field: string, value: unknown): Values {
	const added =
		typeof value === 'string'
			? jsonParse<unknown>(value, { fallbackValue: null })
			: plainJson(field, value);
	if (!isObject(added)) {
		throw new InvalidInputError(
			`${FIELD} is not a JSON object`,
			'Enter an object, such as {"style": "watercolor"}. In an expression, check that all quotes and braces are closed.',
		);
	}
	const reserved = RESERVED.find((name) => name in added);
	if (reserved === undefined) return added;
	throw new InvalidInputError(
		`${FIELD} cannot set "${reserved}"`,
		`Remove it from Additional Body Fields, and use ${reserved === 'n' ? 'Number of Images or Number of Videos' : 'the field of the form'} instead.`,
	);
}

/** Returns an expression's value as plain JSON data. Throws for an undefined part, which `JSON.stringify` would drop. */
function plainJson(field: string, value: unknown): unknown {
	const text = JSON.stringify(value, (name, part: unknown) =>
		isObject(part) || Array.isArray(part)
			? part
			: toPlainValue(name === '' ? field : `${field}: ${name}`, part),
	);
	return JSON.parse(text);
}

/**
 * Returns the request body `own` with the fields of `added`. If both have an object of the same name, the two objects are
 * merged. Throws InvalidInputError if both have any other field of the same name.
 */
export function withAdditionalFields(own: Values, added: Values, path = ''): Values {
	const both = Object.entries(added).map(([name, value]) => {
		if (!Object.hasOwn(own, name)) return [name, value];
		const existing = own[name];
		if (isObject(existing) && !(existing instanceof FreshValue) && isObject(value)) {
			return [name, withAdditionalFields(existing, value, `${path}${name}.`)];
		}
		throw new InvalidInputError(
			`${FIELD} sets "${path}${name}", which another field of the form sets too`,
			'Clear that field of the form, or remove it from Additional Body Fields.',
		);
	});
	return { ...own, ...(Object.fromEntries(both) as Values) };
}
