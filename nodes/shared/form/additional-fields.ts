import { FreshValue } from '../../../client/api/fresh-value';
import {
	InvalidInputError,
	invalid,
	isObject,
	number,
	toPlainValue,
	undefinedExpression,
} from './checks';

type Fields = Record<string, unknown>;

/** The display name of the parameter. */
const FIELD = 'Additional Body Fields';
/** Top-level fields that only the form sets. */
const RESERVED = new Set(['model', 'prompt', 'inputs']);

/**
 * Returns the additional fields of a request.
 *
 * @param value a JSON object, as text or parsed
 * @throws InvalidInputError if it is no JSON object, contains `undefined`, or sets a field that only the form may set
 */
export function additionalFields(value: unknown): Fields {
	const added = parsed(value);
	if (Object.hasOwn(added, 'n')) throw severalOutputs();
	const reserved = Object.keys(added).find((name) => RESERVED.has(name));
	if (reserved !== undefined) {
		throw new InvalidInputError(
			`${FIELD} cannot set "${reserved}"`,
			'Use the field of the form for it, and remove it from Additional Body Fields.',
		);
	}
	return added;
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

/** Several outputs of one generation would be charged, and only the first of them returned. */
function severalOutputs(): InvalidInputError {
	return new InvalidInputError(
		`${FIELD} cannot set "n"`,
		'Only the first output of a generation is returned. Use Number of Images or Number of Videos instead, and remove it from Additional Body Fields.',
	);
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

function parsed(value: unknown): Fields {
	const found = typeof value === 'string' ? readJson(value) : plain('', value);
	if (isObject(found)) return found;
	throw new InvalidInputError(
		`${FIELD} is not a JSON object`,
		'Enter an object, such as {"style": "watercolor"}. In an expression, check that all quotes and braces are closed.',
	);
}

function readJson(text: string): unknown {
	let found: unknown;
	try {
		found = JSON.parse(text);
	} catch {
		return undefined;
	}
	requireExactNumbers(text);
	return found;
}

/** Rejects a number that would be sent as another one, such as a 64-bit seed, or as `null`. */
function requireExactNumbers(json: string): void {
	// Escapes first: one pattern for both would exhaust the stack on megabytes.
	const withoutTexts = json.replace(/\\./g, '').replace(/"[^"]*"/g, '""');
	const numbers = withoutTexts.match(/-?\d[\d.eE+-]*/g) ?? [];
	const changed = numbers.find((written) => !isExact(written));
	if (changed === undefined) return;
	const advice = 'Enter a smaller number. If the model also takes it as text, write it in quotes.';
	throw invalid(`A number in ${FIELD}`, 'one that JavaScript can represent', changed, advice);
}

function isExact(written: string): boolean {
	const value = Number(written);
	if (!Number.isFinite(value)) return false;
	return !/^-?\d+$/.test(written) || BigInt(written) === BigInt(value);
}

/** Returns the value of an expression as JSON. A date becomes text. */
function plain(path: string, value: unknown): unknown {
	const here = path === '' ? FIELD : `${FIELD}: ${path}`;
	if (value === undefined) throw undefinedExpression(here);
	// JSON would contain `null` instead.
	if (typeof value === 'number') return number(here, value);
	if (['function', 'bigint', 'symbol'].includes(typeof value)) throw notJson(here, value);
	if (typeof value !== 'object' || value === null) return toPlainValue(FIELD, value);
	const { toJSON } = value as { toJSON?: unknown };
	if (typeof toJSON === 'function') {
		const json: unknown = toJSON.call(value);
		// An invalid date has none.
		if (json === null) throw notJson(here, value);
		return json;
	}
	const inside = (name: string) => (path === '' ? name : `${path}.${name}`);
	if (Array.isArray(value)) {
		return value.map((part, index) => plain(inside(String(index)), part));
	}
	// A map or an error would become an empty object.
	if (Object.prototype.toString.call(value) !== '[object Object]') {
		throw notJson(here, value);
	}
	return Object.fromEntries(
		Object.entries(value).map(([name, part]) => [name, plain(inside(name), part)]),
	);
}

function notJson(field: string, value: unknown): InvalidInputError {
	return invalid(field, 'a value of JSON', value);
}
