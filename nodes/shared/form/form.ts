import type { IBinaryData, INodeProperties, INodePropertyCollection } from 'n8n-workflow';

import { inTitle } from '../../../client/api/errors';
import { InvalidInputError, undefinedExpression, requireEvaluated, toPlainValue } from './checks';
import { leavesOf, requireParts, type Leaf } from './expressions';
import type { Step } from '../step';

/** The values of a form for one item, by field name. `null` means that the field is empty. */
export type Form = Record<string, unknown>;

/**
 * Reads all fields of a form for one item, with expressions evaluated.
 *
 * `null` and blank text become `null`. A resource locator becomes its value. A collection becomes a form, and a
 * list of collections becomes a list of forms.
 *
 * @throws InvalidInputError that names the field, if its expression fails or returns `undefined` or an object.
 * Silently dropping such a field would charge for a different generation.
 */
export function readForm(step: Step, itemIndex: number, fields: INodeProperties[]): Form {
	// n8n reads the description of a tool itself.
	const read = fields.filter(({ type, name }) => type !== 'notice' && name !== 'toolDescription');
	return Object.fromEntries(
		read.map((field) => [
			field.name,
			checked(field, field.displayName, evaluate(step, itemIndex, field)),
		]),
	);
}

/** The value of a field, with expressions evaluated by n8n. */
function evaluate(step: Step, itemIndex: number, field: INodeProperties): unknown {
	const written = step.node.parameters[field.name];
	requireEvaluated(field.displayName, written);
	requireParts({ step, itemIndex }, field, written);
	try {
		// n8n uses the fallback only for a missing parameter. `undefined` therefore comes from an expression.
		return step.parameter(field.name, itemIndex, field.default);
	} catch (error) {
		const fails = ({ path }: Leaf) => {
			try {
				step.parameter(path, itemIndex, null);
				return false;
			} catch {
				return true;
			}
		};
		return notEvaluated(leavesOf(field, written).find(fails)?.label ?? field.displayName, error);
	}
}

/**
 * @throws InvalidInputError for an expression that n8n cannot evaluate, such as a reference to a node that did
 * not run
 */
function notEvaluated(label: string, error: unknown): never {
	const reason = error instanceof Error ? inTitle(error.message) : null;
	throw new InvalidInputError(
		reason ? `${label} could not be evaluated: ${reason}` : `${label} could not be evaluated`,
		`Check the expression in ${label}.`,
	);
}

/** The fields of a collection in a form; an empty object if the collection has none. */
export function collection(form: Form, name: string): Form {
	return (form[name] ?? {}) as Form;
}

/**
 * The checked value of a field.
 *
 * @param label the field's name for users
 */
function checked(field: INodeProperties, label: string, value: unknown): unknown {
	if (value === undefined) throw undefinedExpression(label, field.required);
	switch (field.type) {
		case 'collection':
			return checkedFieldsOf(field.options as INodeProperties[], '', group(label, value));
		case 'fixedCollection':
			return listOf(field.options as INodePropertyCollection[], group(label, value));
		case 'resourceLocator':
			return single(label, isPicked(value) ? value.value : value);
		case 'json':
			// Its own check reads an object that an expression returned.
			return typeof value === 'object' ? value : single(label, value);
		default:
			return field.typeOptions?.binaryDataProperty && isFile(value) ? value : single(label, value);
	}
}

/** The values of the fields that the user added to a collection. */
function checkedFieldsOf(fields: INodeProperties[], prefix: string, written: Form): Form {
	return Object.fromEntries(
		fields
			.filter(({ name }) => name in written)
			.map((field) => [
				field.name,
				checked(field, `${prefix}${field.displayName}`, written[field.name]),
			]),
	);
}

/** The entries of each list in a fixed collection. Error messages name an entry by its number. */
function listOf(lists: INodePropertyCollection[], written: Form): Form {
	return Object.fromEntries(
		lists.map(({ name, displayName, values }) => {
			const entries = name in written ? written[name] : null;
			if (entries === undefined) throw undefinedExpression(displayName);
			// Changes only the advice for an undefined expression: it must not suggest leaving a field of an added
			// entry empty.
			const ofEntry = values.map((field) => ({ ...field, required: true }));
			const read = [entries ?? []].flat().map((entry, index) => {
				const label = `${displayName} ${index + 1}`;
				return checkedFieldsOf(ofEntry, `${label}: `, group(label, entry));
			});
			return [name, read];
		}),
	);
}

function single(label: string, value: unknown): unknown {
	if (isFile(value)) {
		throw new InvalidInputError(
			`${label} must be a single value, such as text, but the expression returned a file`,
			'For a field that takes a URL, upload the file first, for example with an S3 node, and enter its URL.',
		);
	}
	const written = toPlainValue(label, value);
	return typeof written === 'string' && written.trim() === '' ? null : written;
}

/** A group of fields. One expression may return the whole group. */
function group(label: string, value: unknown): Form {
	if (value === null || value === '') return {};
	if (value === undefined) throw undefinedExpression(label);
	if (typeof value === 'object' && !Array.isArray(value)) return value as Form;
	throw new InvalidInputError(
		`${label} must be an object with its fields`,
		`Fill in the fields of ${label}, or return an object with their values from the expression.`,
	);
}

/**
 * True if an expression returned the binary data itself instead of a field name. n8n's own nodes accept that
 * too.
 */
export function isFile(value: unknown): value is IBinaryData {
	if (typeof value !== 'object' || value === null) return false;
	// Other objects may have fields of these names.
	const { mimeType, data, id } = value as Record<string, unknown>;
	return typeof mimeType === 'string' && (typeof data === 'string' || typeof id === 'string');
}

function isPicked(value: unknown): value is { value: unknown } {
	return typeof value === 'object' && value !== null && 'mode' in value && 'value' in value;
}
