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
	/** Returns the checked value, or throws InvalidInputError. Default: a check of the field's type, choices and minimum. */
	check?: (label: string, value: unknown) => unknown;
	/** The field's name in the request body, such as `parameters.seed`. A field without `wire` is not copied into the body. */
	wire?: string;
	/** True if the field limits what is spent. An empty value is then an error: the step would spend without this limit. */
	limits?: true;
}

/** A field of a form, or an option of a collection, with the path at which its value is read. */
export interface Entry extends Field {
	/** Such as `prompt` or `options.seed`. Never change it: stored digests contain it, so items would be charged again. */
	path: string;
	label: string;
}

/** The checked values of a form, by the names of its fields and options. `null` means that a field is empty. */
export type Values = Record<string, unknown>;

/** The properties of a field that only this package uses. n8n does not know them. */
const OWN = ['check', 'wire', 'limits'];

/** Returns the form for n8n's node description, without the properties in `OWN`. */
export function formOf(fields: Field[]): INodeProperties[] {
	return fields.map((field) => {
		const shown = Object.entries(field).filter(([name]) => !OWN.includes(name));
		const options =
			field.type === 'collection' ? { options: formOf(field.options as Field[]) } : {};
		return { ...Object.fromEntries(shown), ...options } as INodeProperties;
	});
}

/** Returns an entry for each field that this package reads. A collection is replaced by one entry for each option in it. */
export function entriesOf(fields: Field[]): Entry[] {
	// A notice has no value, and only n8n itself reads `toolDescription`, which it shows to the agent.
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
 * the field: if an invalid value were silently left out, the user would be charged for another request than intended.
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

/** Returns the field's first valid value among the items, or `null`. Never throws: `readForm` reports invalid values. */
export function validValue(step: Step, field: Entry, items: Iterable<number> = step.items.keys()) {
	for (const itemIndex of items) {
		try {
			return valueAt(step, itemIndex, field);
		} catch {
			// The next item may have a valid value.
		}
	}
	return null;
}

/**
 * Returns a parameter before evaluation; `undefined` if it is hidden or not added. Throws InvalidInputError if a whole
 * collection is an expression, which is possible in the JSON of a workflow, but not in the editor.
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

/** Reads each entry of a field of the type `fixedCollection`. Errors name an entry by its number. */
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
		// With the fallback `null`, a missing parameter gives `null`. Only an expression can give `undefined`.
		return step.parameter(path, itemIndex, null);
	} catch (error) {
		const advice = `Check the expression in ${label}.`;
		throw unreadInput(`${label} could not be evaluated`, error, advice);
	}
}

/** Returns an evaluated value as text, number, boolean, list or (type `json` only) object; `null` if the value is empty. */
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
