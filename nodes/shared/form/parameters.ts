import type { CreateJob, Job } from '../../../client/jobs/job';
import { truncate } from '../../../client/text';
import { runsAsTool } from '../execution';
import {
	InvalidInputError,
	integerWithin,
	isObject,
	isSet,
	oneOf,
	positive,
	requiredText,
	toText,
} from './checks';
import { joins, partsOf } from './expressions';
import { OUTPUT_FIELD } from './fields';
import type { Form } from './form';
import { MOST_RETRIES } from './run-options';
import { isAfterSleep, type Step } from '../step';

/** Reads the parameters that several nodes share. Each check throws `InvalidInputError` for an invalid value. */

/** The `options` or `runOptions` collection of an item. */
export type Options = Record<string, unknown>;

/** The destination of a download. */
export interface DownloadTarget {
	propertyName: string;
	/** `null`: use the prompt and the id. */
	fileName: string | null;
}

/** One of an item's collections, not validated. */
export function optionsOf(step: Step, itemIndex: number, name: 'options' | 'runOptions'): Options {
	return step.parameter(name, itemIndex, {}) as Options;
}

/**
 * Identifies the creating request of an item by its unevaluated parameters and its input item. The evaluated request
 * cannot identify it: an expression may return a different value in every attempt of the step, such as a random seed or
 * the time.
 *
 * @param sent the names of the fields that are sent, such as `prompt` or `options.seed`. Any other may change before a
 * retry, and the existing generation is still reused
 * @returns the text that identifies the request, and the text that identifies the idempotency key
 */
export function recipeOf(
	step: Step,
	itemIndex: number,
	sent: string[],
): { request: string; idempotencyKey: string } {
	const { type, parameters } = step.node;
	const written = (path: string): unknown => {
		const [name, option] = path.split('.');
		const value: unknown = parameters[name];
		return option && isObject(value) ? value[option] : value;
	};
	const { json } = step.items[itemIndex];
	return {
		request: toText([type, ...sent.map((path) => [path, written(path)]), json]),
		idempotencyKey: toText([written('options.idempotencyKey'), json]),
	};
}

/** What JavaScript makes of a value that is missing, or that is not text, in an idempotency key. */
const NO_VALUE = [
	/undefined/i,
	/(?<![a-z\d])null(?![a-z\d])/,
	/(?<![a-z\d])NaN(?![a-z\d])/,
	/Invalid Date|\[object |\[native code\]/,
];

/** A long text in base64. It may contain `NaN` by chance. */
const BASE64 = /[A-Za-z\d+/=]{20,}/g;

/**
 * Reads the idempotency key of an item; `null` if it is empty.
 *
 * @throws InvalidInputError if an expression in the key has no value, or all of them are empty: items with different
 * prompts would share the key
 */
export function idempotencyKeyOf(step: Step, itemIndex: number, options: Options): string | null {
	const field = 'Idempotency Key';
	// Characters with accents have several encodings.
	const key = textIfSet(field, options.idempotencyKey)?.normalize() ?? null;
	const { options: written } = step.node.parameters;
	const expression = (written as Options | undefined)?.idempotencyKey;
	if (key === null || typeof expression !== 'string' || !expression.startsWith('=')) return key;
	if (isAfterSleep(step)) return key;
	const advice =
		'Items with the same idempotency key share one generation. Use a value in the expression that each item has.';
	const at = { step, itemIndex };
	const words = key.replace(BASE64, (run) => run.replaceAll('NaN', ''));
	// Only separators are left of it.
	const isBare = !/[\p{L}\p{N}]/u.test(key) && !toText(step.items[itemIndex].json).includes(key);
	if (isBare || NO_VALUE.some((word) => joins(at, expression, words, word))) {
		throw new InvalidInputError(`A part of ${field} has no value: ${truncate(key)}`, advice);
	}
	const parts = partsOf(at, expression);
	const isFilled = parts.some(({ value }) => String(value ?? '').trim() !== '');
	if (parts.length === 0 || isFilled) return key;
	throw new InvalidInputError(
		`${field} has only its fixed text for this item: ${truncate(key)}`,
		`Every expression in it is empty. ${advice}`,
	);
}

/** The options with a fixed set of values, the default first. */
const CHOICES = {
	onTimeout: { field: 'On Timeout', values: ['error', 'continue'] },
	onUncertainCharge: { field: 'If the Response Is Lost', values: ['error', 'resubmit'] },
	readiness: { field: 'How to Detect the End', values: ['auto', 'status', 'outputUrl'] },
	whileWaiting: { field: 'Sleep During Long Batches', values: ['poll', 'suspend'] },
} as const;

/**
 * The value of an option that has a fixed set of values.
 *
 * @throws InvalidInputError
 */
export function choiceOf<Name extends keyof typeof CHOICES>(options: Options, name: Name) {
	const { field, values } = CHOICES[name];
	type Value = (typeof CHOICES)[Name]['values'][number];
	return oneOf<Value>(field, options[name] ?? values[0], values);
}

/** Seconds. Clients of n8n's MCP Server Trigger give up after 60 s, and an agent whose call timed out creates again. */
const TOOL_TIMEOUT = 45;

/**
 * How long to wait for one generation. A tool answers within a minute, unless the user has set a longer timeout.
 *
 * @param defaultTimeout in seconds
 * @throws InvalidInputError
 */
export function waitingOf(
	step: Step,
	options: Options,
	defaultTimeout: number,
): Pick<Job, 'timeoutMs' | 'onTimeout' | 'countsFromStart'> {
	const isTool = runsAsTool(step);
	const { timeout = null, onTimeout = null } = options;
	return {
		timeoutMs: 1000 * positive('Timeout', timeout ?? (isTool ? TOOL_TIMEOUT : defaultTimeout)),
		onTimeout: choiceOf({ onTimeout: onTimeout ?? (isTool ? 'continue' : null) }, 'onTimeout'),
		...(isTool && { countsFromStart: true }),
	};
}

/**
 * How often an output is created again after a failure, and with which other models.
 *
 * @throws InvalidInputError
 */
export function triesOf(
	options: Options,
	model: string,
): Pick<CreateJob, 'retriesOnFailure' | 'fallbackModels'> {
	const retries = options.retriesOnFailure ?? 0;
	const models = textList('Fallback Models', options.fallbackModels);
	return {
		retriesOnFailure: integerWithin('Retries of Failed Generations', retries, 0, MOST_RETRIES),
		fallbackModels: [...new Set(models)].filter((fallback) => fallback !== model),
	};
}

/** What the first item says to do while generations run. Never throws: the item's own check reports an error. */
export function whileWaitingOfFirst(step: Step): 'poll' | 'suspend' {
	try {
		const whileWaiting = optionByPath(step, 0, 'runOptions', 'whileWaiting');
		return choiceOf({ whileWaiting }, 'whileWaiting');
	} catch {
		return 'poll';
	}
}

/** Reads an option by its path, so that n8n evaluates no other option: another option's expression may fail. */
export function optionByPath(
	step: Step,
	itemIndex: number,
	collection: 'options' | 'runOptions',
	name: string,
): unknown {
	// One expression may return the whole collection.
	const isWhole = typeof step.node.parameters[collection] === 'string';
	return isWhole
		? optionsOf(step, itemIndex, collection)[name]
		: step.parameter(`${collection}.${name}`, itemIndex, null);
}

/**
 * Reads the destination of the download.
 *
 * @param options the `options` collection of `form`
 * @returns `null` if the output is not downloaded
 * @throws InvalidInputError
 */
export function downloadTarget(form: Form, options: Options): DownloadTarget | null {
	if (!booleanOr(true, 'Download Output', form.downloadOutput)) return null;
	return {
		propertyName: textIfSet('Put Output in Field', options.binaryPropertyName) ?? OUTPUT_FIELD,
		fileName: textIfSet('File Name', options.fileName),
	};
}

/** Reads a boolean. An expression may return it as text. */
export function booleanOr(fallback: boolean, field: string, value: unknown): boolean {
	return oneOf(field, value ?? fallback, [true, false]);
}

/**
 * The text of a field; `null` if the field is empty.
 *
 * @throws InvalidInputError if the value is not text
 */
export function textIfSet(field: string, value: unknown): string | null {
	return isSet(value) ? requiredText(field, value) : null;
}

/**
 * The texts of a list, which an expression may also return as one text with commas. Empty ones are dropped.
 *
 * @throws InvalidInputError if an entry is not text
 */
function textList(field: string, value: unknown): string[] {
	if (!isSet(value)) return [];
	const parts: unknown[] = Array.isArray(value) ? value : requiredText(field, value).split(',');
	return parts
		.filter((part) => String(part ?? '').trim() !== '')
		.map((part) => requiredText(field, part));
}
