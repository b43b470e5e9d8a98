import { FreshValue } from '../../../client/api/fresh-value';
import { InvalidInputError, isObject, toPlainValue, undefinedExpression } from './checks';

type Fields = Record<string, unknown>;

const FIELD = 'Additional Body Fields';
/** Top-level fields that only the form sets. */
const RESERVED = new Set(['model', 'prompt', 'inputs']);

/**
 * Returns the additional fields of a request.
 *
 * @param value a JSON object, as text or parsed
 * @throws InvalidInputError if it is no JSON object, contains `undefined`, or sets a field that only the form may set
 */
export function additionalFields(field: string, value: unknown): Fields {
	const added = typeof value === 'string' ? readJson(value) : plainJson(field, value);
	if (!isObject(added)) {
		throw new InvalidInputError(
			`${FIELD} is not a JSON object`,
			'Enter an object, such as {"style": "watercolor"}. In an expression, check that all quotes and braces are closed.',
		);
	}
	// Several outputs of one generation would be charged, and only the first of them returned.
	if ('n' in added) {
		throw new InvalidInputError(
			`${FIELD} cannot set "n"`,
			'Only the first output of a generation is returned. Use Number of Images or Number of Videos instead, and remove it from Additional Body Fields.',
		);
	}
	const reserved = Object.keys(added).find((name) => RESERVED.has(name));
	if (reserved === undefined) return added;
	throw new InvalidInputError(
		`${FIELD} cannot set "${reserved}"`,
		'Use the field of the form for it, and remove it from Additional Body Fields.',
	);
}

function readJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Returns the value of an expression as JSON, which has no `undefined`, NaN or functions. */
function plainJson(field: string, value: unknown): unknown {
	const text = JSON.stringify(value, (name, part: unknown) => {
		const isMissing = part === undefined || typeof part === 'function';
		if (typeof part === 'string') return toPlainValue(field, part);
		if (!isMissing && (typeof part !== 'number' || Number.isFinite(part))) return part;
		throw undefinedExpression(name === '' ? field : `${field}: ${name}`);
	});
	return JSON.parse(text);
}

/**
 * Returns a request body with additional fields. Nested objects are merged.
 *
 * @param body the body that the form describes
 * @throws InvalidInputError if they set a field that the form sets too
 */
export function withAdditionalFields(body: object, added: Fields): object {
	return merged('', body as Fields, added);
}

function merged(path: string, own: Fields, added: Fields): Fields {
	const both = Object.entries(added).map(([name, value]) => {
		const here = `${path}${name}`;
		if (!Object.hasOwn(own, name)) return [name, value];
		const existing = own[name];
		if (isObject(existing) && !(existing instanceof FreshValue) && isObject(value)) {
			return [name, merged(`${here}.`, existing, value)];
		}
		throw new InvalidInputError(
			`${FIELD} sets "${here}", which another field of the form sets too`,
			'Clear that field of the form, or remove it from Additional Body Fields.',
		);
	});
	return { ...own, ...(Object.fromEntries(both) as Fields) };
}
