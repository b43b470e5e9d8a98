import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

import { isObject, toText, undefinedPart } from './checks';
import type { Step } from '../step';

/** An item of a step, for which expressions are evaluated. */
export interface At {
	step: Step;
	itemIndex: number;
}

/**
 * The expressions of a parameter that n8n joins into a text, with their values. A function counts as `undefined`: n8n
 * would insert its source code. An expression that fails when it is evaluated by itself is left out. Empty after a sleep.
 */
export function partsOf(
	{ step, itemIndex }: At,
	written: unknown,
): Array<{ expression: string; value: unknown }> {
	const { evaluate } = step;
	if (evaluate === null) return [];
	return expressionsIn(written).flatMap((expression) => {
		try {
			return [{ expression, value: evaluate(expression, itemIndex) }];
		} catch (error) {
			const isFunction = /is a function/.test((error as Error).message);
			return isFunction ? [{ expression, value: undefined }] : [];
		}
	});
}

/** An expression within a text. The last one may be unclosed. */
const BRACED = /\{\{[^]*?(?:\}\}|$)/g;

/**
 * The expressions of a parameter that n8n evaluates to a text: one that contains anything besides a single expression,
 * even only a blank. Empty for any other parameter, and for a text with escaped braces, which is not taken apart.
 */
function expressionsIn(written: unknown): string[] {
	if (typeof written !== 'string' || !written.startsWith('=')) return [];
	if (/\\(\{\{|\}\})/.test(written)) return [];
	const found = written.match(BRACED) ?? [];
	return found[0] === written.slice(1) ? [] : found;
}

/** A part of a form with a value of its own: a field, an option of a collection, or a field of a list's entry. */
export interface Leaf {
	field: INodeProperties;
	/** Its name for users. */
	label: string;
	/** Its path among the parameters. */
	path: string;
	/** Its value before evaluation. */
	written: unknown;
}

/**
 * The parts of a field that are written. A collection that one expression returns is a single part.
 *
 * @param written the parameter before evaluation
 */
export function leavesOf(field: INodeProperties, written: unknown): Leaf[] {
	const { name: path, displayName: label, type, options = [] } = field;
	if (isObject(written) && type === 'collection') {
		return inside(options as INodeProperties[], written, `${path}.`, '');
	}
	if (isObject(written) && type === 'fixedCollection') {
		return (options as INodePropertyCollection[]).flatMap(({ name, displayName, values }) =>
			[written[name] ?? []]
				.flat()
				.flatMap((entry, index) =>
					isObject(entry)
						? inside(values, entry, `${path}.${name}[${index}].`, `${displayName} ${index + 1}: `)
						: [],
				),
		);
	}
	const picked = isObject(written) && type === 'resourceLocator' ? written.value : written;
	return [{ field, label, path, written: picked }];
}

function inside(
	fields: INodeProperties[],
	written: Record<string, unknown>,
	path: string,
	prefix: string,
): Leaf[] {
	const named = fields.filter(({ name }) => name in written);
	return named.map((field) => ({
		field,
		label: `${prefix}${field.displayName}`,
		path: `${path}${field.name}`,
		written: written[field.name],
	}));
}

/**
 * Requires that each expression in a field has a value. n8n leaves out an undefined part, and the request would be charged
 * without it.
 *
 * @param written the parameter before evaluation
 * @throws InvalidInputError that names the part of the field
 */
export function requireParts(at: At, field: INodeProperties, written: unknown): void {
	for (const leaf of leavesOf(field, written)) {
		requireDefined(at, leaf.label, leaf.written);
	}
}

function requireDefined(at: At, label: string, written: unknown): void {
	const missing = partsOf(at, written).find(
		({ expression, value }) =>
			value === undefined || Number.isNaN(value) || joins(at, expression, value, /undefined/i),
	);
	if (missing) throw undefinedPart(label, missing.expression);
	// A single expression. n8n evaluates it again, so only where it joins texts.
	if (typeof written !== 'string' || !JOINS.test(written)) return;
	if (joins(at, written, valueOf(at, written), /undefined/i)) {
		throw undefinedPart(label, written.slice(1));
	}
}

/** What may join an undefined value with text in an expression. */
const JOINS = /^=[^]*\{\{[^]*(\+|`|concat|replace|String)/;

function valueOf({ step, itemIndex }: At, written: string): unknown {
	try {
		return step.evaluate?.(written.slice(1), itemIndex);
	} catch {
		return null;
	}
}

/**
 * True if a text has a word that JavaScript made of a missing value, as in `{{ 'a ' + $json.colour }}`: neither the
 * expression nor the data of the item contains it.
 */
export function joins(
	{ step, itemIndex }: At,
	written: string,
	text: unknown,
	word: RegExp,
): boolean {
	if (typeof text !== 'string' || !word.test(text) || word.test(written)) return false;
	const { json } = step.items[itemIndex];
	// A null in the data is no text.
	const data = toText(json, (_, value) => (value === null ? undefined : value) as unknown);
	// A method may have changed the case of the data.
	return !new RegExp(word.source, 'i').test(data);
}
