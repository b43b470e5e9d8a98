import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

import {
	InvalidInputError,
	integer,
	invalid,
	isObject,
	number,
	oneOf,
	requiredText,
	toPlainValue,
	undefinedExpression,
	unreadInput,
} from './checks';
import { requireParts } from './expressions';
import type { Step } from '../step';

/** A field of a form: what n8n shows, and how its value is checked and sent. */
export interface Field extends INodeProperties {
	/** Returns the checked value. By default, its type, its choices and its minimum are checked. */
	check?: (label: string, value: unknown) => unknown;
	/** Its name in the body of the request, such as `seed` or `parameters.seed`. Only fields with such a name are sent. */
	wire?: string;
	/** True if it limits what is spent. It may not be empty: the step would run unguarded. */
	limits?: true;
}

/** A field that is read, or an option of a collection. */
export interface Entry extends Field {
	/** Its path among the parameters, such as `prompt` or `options.seed`. It is part of digests: never rename it. */
	path: string;
	label: string;
}

/** The checked values of a form, by the names of its fields and options. `null` means that a field is empty. */
export type Values = Record<string, unknown>;

/** What only this package knows of a field. */
const OWN = ['check', 'wire', 'limits'];

/** The form as n8n shows it. */
export function formOf(fields: Field[]): INodeProperties[] {
	return fields.map((field) => {
		const shown = Object.entries(field).filter(([name]) => !OWN.includes(name));
		const options =
			field.type === 'collection' ? { options: formOf(field.options as Field[]) } : {};
		return { ...Object.fromEntries(shown), ...options } as INodeProperties;
	});
}

/** The fields of a form that have a value, with the options of its collections. */
export function entriesOf(fields: Field[]): Entry[] {
	// n8n reads the description of a tool itself.
	const read = fields.filter(({ type, name }) => type !== 'notice' && name !== 'toolDescription');
	return read.flatMap((field) =>
		field.type === 'collection'
			? (field.options as Field[]).map((option) => entry(option, `${field.name}.`))
			: entry(field),
	);
}

function entry(field: Field, path = '', label = ''): Entry {
	return { ...field, path: `${path}${field.name}`, label: `${label}${field.displayName}` };
}

/** Reads and checks fields for one item. Throws `InvalidInputError` that names the field. */
export function readForm(step: Step, itemIndex: number, entries: Entry[]): Values {
	return Object.fromEntries(entries.map((each) => [each.name, valueAt(step, itemIndex, each)]));
}

/**
 * Reads and checks one field for one item; `null` if it is empty, hidden or not added. Throws InvalidInputError that names
 * it: to leave it out silently would charge for the wrong thing.
 */
export function valueAt(step: Step, itemIndex: number, field: Entry): unknown {
	const { path, label, required, limits } = field;
	const written = writtenAt(step, path);
	if (written === undefined) return null;
	if (field.type === 'fixedCollection') return listAt(step, itemIndex, field);
	const picked = field.type === 'resourceLocator' && isObject(written) ? written.value : written;
	requireParts(step, itemIndex, label, picked);
	const value = plainValue(field, evaluate(step, itemIndex, field));
	if (value !== null) return checkOf(field)(label, value);
	if (limits) {
		throw new InvalidInputError(
			`${label} is empty for this item, so nothing would limit what is spent`,
			`Enter a number in ${label}, check its expression, or remove the option.`,
		);
	}
	return required ? requiredText(label, null) : null;
}

/** The first value of these items that is valid. Never throws: an item with an invalid one fails by itself. */
export function validValue(step: Step, field: Entry, items: Iterable<number> = step.items.keys()) {
	for (const itemIndex of items) {
		try {
			return valueAt(step, itemIndex, field);
		} catch {
			// The next item may have a valid one.
		}
	}
	return null;
}

/**
 * A parameter before evaluation; `undefined` if it is hidden or not added. Throws InvalidInputError for an expression in
 * place of a group of fields. The editor offers none.
 */
export function writtenAt({ node }: Pick<Step, 'node'>, path: string): unknown {
	const names = path.split(/[.[\]]+/);
	return names.reduce<unknown>((group, name) => {
		if (typeof group === 'string') throw wholeGroup(path);
		return (group as Values | undefined)?.[name];
	}, node.parameters);
}

function wholeGroup(path: string): InvalidInputError {
	const [name] = path.split('.');
	return new InvalidInputError(
		`The parameter ${name} must be an object with its fields`,
		'An expression can only give the value of a single field in it.',
	);
}

/** The values of the entries of a list. Errors name an entry by its number. */
function listAt(step: Step, itemIndex: number, { name, options }: Entry): Values[] {
	const [list] = options as INodePropertyCollection[];
	const written = writtenAt(step, `${name}.${list.name}`) ?? [];
	if (!Array.isArray(written)) throw wholeGroup(name);
	return written.map((_, index) => {
		const label = `${list.displayName} ${index + 1}: `;
		const within = list.values.map((one) => entry(one, `${name}.${list.name}[${index}].`, label));
		return readForm(step, itemIndex, within);
	});
}

function evaluate(step: Step, itemIndex: number, { path, label }: Entry): unknown {
	try {
		// n8n uses the fallback only for a missing parameter. `undefined` therefore comes from an expression.
		return step.parameter(path, itemIndex, null);
	} catch (error) {
		const advice = `Check the expression in ${label}.`;
		throw unreadInput(`${label} could not be evaluated`, error, advice);
	}
}

/** The value of a field as text, number, boolean or a list; `null` if it is empty. A JSON field also takes objects. */
function plainValue({ type, label, required }: Entry, evaluated: unknown): unknown {
	if (evaluated === undefined) throw undefinedExpression(label, required);
	const isPicked = type === 'resourceLocator' && isObject(evaluated) && 'value' in evaluated;
	const value = isPicked ? evaluated.value : evaluated;
	if (type === 'json' && typeof value === 'object') return value;
	const plain = toPlainValue(label, value);
	return typeof plain === 'string' && plain.trim() === '' ? null : plain;
}

function checkOf({ check, type, options = [], typeOptions = {} }: Entry): Required<Field>['check'] {
	if (check) return check;
	const { minValue, numberPrecision } = typeOptions;
	switch (type) {
		case 'boolean':
			return (label, value) => oneOf(label, value, [true, false]);
		case 'options': {
			const values = options.flatMap((choice) => ('value' in choice ? [choice.value] : []));
			return (label, value) => oneOf(label, value, values.filter(Boolean));
		}
		case 'number':
			return (label, value) => {
				const read = numberPrecision === 0 ? integer(label, value) : number(label, value);
				if (read >= (minValue ?? -Infinity)) return read;
				throw invalid(label, `at least ${minValue}`, value);
			};
		default:
			return requiredText;
	}
}
