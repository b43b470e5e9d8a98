import { digest } from '../../../client/orders/table';
import { isSet } from './checks';
import { collection, type Form } from './form';

/** A field of a form that is sent. */
export interface RequestField {
	/** Its name in the form, such as `prompt` or `options.seed`. It is part of the digest, so it never changes. */
	name: string;
	/** Its name for users. */
	label: string;
	/** Its name in the body, such as `seed` or `parameters.seed`. */
	wire: string;
	/** True if it may not be empty. */
	required?: boolean;
	/** Returns the value that is sent; `null` or an empty list if none is. Throws `InvalidInputError`. */
	check: (label: string, value: unknown) => unknown;
}

/** What a form asks for. */
export interface Requested {
	body: object;
	/** The values of the fields that are sent, by their names in the form. */
	values: Record<string, unknown>;
}

/**
 * Checks the fields of a form that are sent. Empty ones are left out.
 *
 * @throws InvalidInputError
 */
export function requestedBy(fields: RequestField[], form: Form): Requested {
	const body: Record<string, unknown> = {};
	const values: Record<string, unknown> = {};
	for (const { name, label, wire, required = false, check } of fields) {
		const [option] = /(?<=^options\.).*/.exec(name) ?? [];
		const given = option ? collection(form, 'options')[option] : form[name];
		const value = required || isSet(given) ? check(label, given) : null;
		if (value === null || (Array.isArray(value) && value.length === 0)) continue;
		values[name] = value;
		const [, inner] = /^parameters\.(.*)/.exec(wire) ?? [];
		if (inner === undefined) body[wire] = value;
		else body.parameters = { ...(body.parameters as object | undefined), [inner]: value };
	}
	return { body, values };
}

/**
 * Identifies what an item asks for. The values are the user's, by their names in the form: how a request is built may
 * change with a release, and must not create and charge an item again.
 *
 * @param values JSON
 */
export function digestOfValues(type: string, values: Record<string, unknown>): string {
	return digest(JSON.stringify(stable({ ...values, type })));
}

/** Returns a value without what does not count: the order of the names of objects, and the signatures of URLs. */
function stable(value: unknown): unknown {
	if (typeof value === 'string') return withoutSignature(value);
	if (Array.isArray(value)) return value.map(stable);
	if (typeof value !== 'object' || value === null) return value;
	const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(entries.map(([name, inner]) => [name, stable(inner)]));
}

/** A query parameter of a URL that is signed, or valid for a limited time. */
const SIGNED = /[?&](x-(amz|goog)-[\w-]+|sig|signature|se|expires|token)=/i;

/**
 * A signed URL without its query: it is another one each time that it is read, such as that of an image from Image
 * Generation, and the file is the same.
 */
function withoutSignature(text: string): string {
	return /^https?:\/\/\S+$/i.test(text) && SIGNED.test(text) ? text.split('?')[0] : text;
}
