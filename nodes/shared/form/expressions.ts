import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

import { isObject, undefinedPart } from './checks';
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
 * A reference to data, such as `$json.product.name`, `$('Node').item.json['name']` or `$fromAI('name')`. It ends before
 * a method, except `first()`, `last()` and `all()`: the result of a method may contain `undefined` although the data does not.
 */
const REFERENCE =
	/\$(?:\w+|(?=\())(?:\([^()$]*\))?(?:\??\.(?:(?:first|last|all)\(\)|[\p{L}\p{N}_$]+(?![\p{L}\p{N}_$]|\s*\())|(?:\?\.)?\[\s*(?:\d+|'[^']*'|"[^"]*")\s*\])*/gu;

/** What may deal with a missing value in an expression, such as `??` or `filter`. */
const DEALS_WITH_MISSING =
	/[?!]|\|\||&&|=>|\b(?:if|typeof|filter|compact|isEmpty|isNotEmpty)\b|\$if/;

/** The texts in an expression, without what is inserted in them. A question mark in them is no operator. */
const TEXTS = /"[^"\n]*"|'[^'\n]*'|`[^`$]*|\}[^`$}]*(?=`|\$\{)/g;

/** References to data that does not exist, in expressions that do not deal with it. Empty after a sleep. */
export function missingReferences({ step, itemIndex }: At, written: string): string[] {
	const { evaluate } = step;
	const unguarded = (written.match(BRACED) ?? []).filter(
		(part) => !DEALS_WITH_MISSING.test(part.replace(TEXTS, '')),
	);
	const references = unguarded.flatMap((part) => {
		const found = part.match(REFERENCE) ?? [];
		// A reference alone is a part with its own check.
		return part.replace(/^\{\{\s*|\s*\}\}$/g, '') === found[0] ? [] : found;
	});
	const lacks = (reference: string) => {
		try {
			return evaluate !== null && isMissing(evaluate(`{{ ${reference} }}`, itemIndex));
		} catch {
			return false;
		}
	};
	// A price in a text, such as `$5`, only looks like a reference: n8n knows nothing by that name.
	return references.filter((reference) => {
		const [name] = reference.match(/^\$\w*/) ?? [reference];
		return lacks(reference) && !lacks(name);
	});
}

/** The texts that a parameter consists of: its fixed texts, and every text in the data that its expressions refer to. */
export function sourcesOf({ step, itemIndex }: At, written: string): string[] {
	const references = (written.match(BRACED) ?? []).flatMap((part) => part.match(REFERENCE) ?? []);
	const texts = references.flatMap((reference) => {
		try {
			return textsIn(step.evaluate?.(`{{ ${reference} }}`, itemIndex));
		} catch {
			return [];
		}
	});
	const inside = (written.match(BRACED) ?? []).flatMap((part) => part.match(TEXTS) ?? []);
	return [...written.slice(1).split(BRACED), ...inside, ...texts];
}

/** How deep the data of an expression is searched for texts. */
const MOST_LEVELS = 5;

function textsIn(value: unknown, levels = MOST_LEVELS): string[] {
	if (typeof value === 'string') return [value];
	if (typeof value !== 'object' || value === null || levels === 0) return [];
	return Object.values(value).flatMap((inner) => textsIn(inner, levels - 1));
}

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
		requireDefined(at, leaf.label, leaf.written, leaf.field.type === 'json');
	}
}

function requireDefined(at: At, label: string, written: unknown, isJson = false): void {
	const missing = partsOf(at, written).find(({ value }) => isMissing(value));
	if (missing) throw undefinedPart(label, missing.expression);
	const mayLackOne = isJson ? OMITS.test(String(written)) : joinsUndefined(at, written);
	const [reference] = mayLackOne ? missingReferences(at, written as string) : [];
	if (reference) throw undefinedPart(label, reference);
}

/** What leaves out an undefined value in silence, as in `{{ JSON.stringify({ style: $json.style }) }}`. */
const OMITS = /^=[^]*\{\{[^]*(JSON\.stringify|toJsonString)/;

/** What may join an undefined value with text in an expression. */
const JOINS = /^=[^]*\{\{[^]*(\+|`|concat|replace|String)/;

/** True if JavaScript may have joined an undefined value with text, as in `{{ 'a ' + $json.colour }}`. */
function joinsUndefined({ step, itemIndex }: At, written: unknown): boolean {
	if (typeof written !== 'string' || !JOINS.test(written)) return false;
	try {
		return String(step.evaluate?.(written.slice(1), itemIndex))
			.toLowerCase()
			.includes('undefined');
	} catch {
		return false;
	}
}

function isMissing(value: unknown): boolean {
	return value === undefined || Number.isNaN(value);
}
