import type {
	IBinaryData,
	IExecuteFunctions,
	INodeProperties,
	INodePropertyCollection,
} from 'n8n-workflow';

import { cameToNothing, requireEvaluated, writtenOut } from '../../client/input/checks';
import { InvalidInputError, titled } from '../../client/wire/errors';

/** What an item's form comes to, by the names of its fields: `null` where nothing was chosen. */
export type Form = Record<string, unknown>;

/**
 * Reads all fields of a form for one item, expressions evaluated. Empty is what is `null` or a blank text; the value
 * of a picker is that which was picked. Collections are forms of their own, lists of collections are lists of forms.
 *
 * @throws InvalidInputError named by its field, where an expression cannot be worked out, or came to nothing or to an
 * object: left out in silence, something else would be made and paid for
 */
export function readForm(
	context: IExecuteFunctions,
	itemIndex: number,
	fields: INodeProperties[],
): Form {
	const read = fields.filter(({ type }) => type !== 'notice');
	return Object.fromEntries(
		read.map((field) => [
			field.name,
			chosen(field, field.displayName, workedOut(context, itemIndex, field)),
		]),
	);
}

/** What n8n makes of what is written in a field, expressions evaluated. */
function workedOut(context: IExecuteFunctions, itemIndex: number, field: INodeProperties): unknown {
	requireEvaluated(field.displayName, context.getNode().parameters[field.name]);
	try {
		// The fallback is for what is not written at all, so what is undefined is an expression that came to nothing.
		return context.getNodeParameter(field.name, itemIndex, field.default);
	} catch (error) {
		return notWorkedOut(field.displayName, error);
	}
}

/** @throws InvalidInputError for an expression that n8n cannot evaluate, such as one on a node that did not run */
function notWorkedOut(label: string, error: unknown): never {
	const reason = error instanceof Error ? error.message : null;
	throw new InvalidInputError(
		titled(`${label} could not be worked out`, reason),
		`Check the expression in ${label}.`,
	);
}

/** The fields of a collection in a form: empty where there are none. */
export function collection(form: Form, name: string): Form {
	return (form[name] ?? {}) as Form;
}

/** What a field came to. @param label its name for people */
function chosen(field: INodeProperties, label: string, value: unknown): unknown {
	if (value === undefined) throw cameToNothing(label);
	switch (field.type) {
		case 'collection':
			return chosenOf(field.options as INodeProperties[], '', group(label, value));
		case 'fixedCollection':
			return listOf(field.options as INodePropertyCollection[], group(label, value));
		case 'resourceLocator':
			return single(label, isPicked(value) ? value.value : value);
		default:
			return field.typeOptions?.binaryDataProperty && isFile(value) ? value : single(label, value);
	}
}

/** What came of the fields that were added to a collection. */
function chosenOf(fields: INodeProperties[], prefix: string, written: Form): Form {
	return Object.fromEntries(
		fields
			.filter(({ name }) => name in written)
			.map((field) => [
				field.name,
				chosen(field, `${prefix}${field.displayName}`, written[field.name]),
			]),
	);
}

/** The entries of each list in a collection of lists, named by their numbers. */
function listOf(lists: INodePropertyCollection[], written: Form): Form {
	return Object.fromEntries(
		lists.map(({ name, displayName, values }) => {
			const entries = name in written ? written[name] : null;
			if (entries === undefined) throw cameToNothing(displayName);
			const read = [entries ?? []].flat().map((entry, index) => {
				const label = `${displayName} ${index + 1}`;
				return chosenOf(values, `${label}: `, group(label, entry));
			});
			return [name, read];
		}),
	);
}

function single(label: string, value: unknown): unknown {
	const written = writtenOut(label, value);
	return typeof written === 'string' && written.trim() === '' ? null : written;
}

/** A group of fields; it may come from an expression as a whole. */
function group(label: string, value: unknown): Form {
	if (value === null || value === '') return {};
	if (value === undefined) throw cameToNothing(label);
	if (typeof value === 'object' && !Array.isArray(value)) return value as Form;
	throw new InvalidInputError(
		`${label} is not a group of fields`,
		`Fill in the fields of ${label}, or let the expression give an object with their values.`,
	);
}

/** Where a file may be named, an expression may give the file itself, as n8n's own nodes take it. */
export function isFile(value: unknown): value is IBinaryData {
	return (
		typeof value === 'object' &&
		value !== null &&
		'mimeType' in value &&
		('data' in value || 'id' in value)
	);
}

function isPicked(value: unknown): value is { value: unknown } {
	return typeof value === 'object' && value !== null && 'mode' in value && 'value' in value;
}
