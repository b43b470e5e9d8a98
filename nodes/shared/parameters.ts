import { jsonStringify, type IExecuteFunctions } from 'n8n-workflow';

import { integer, oneOf, positive, requiredText } from '../../client/input/checks';
import type { CreateJob, Job, Readiness } from '../../client/jobs/job';
import type { Form } from './form';

/** Checks what several nodes have in their forms. All throw `InvalidInputError`. */

/** An item's `options` collection. */
export type Options = Record<string, unknown>;

/** How long one item is to be waited for. */
export type Waiting = Pick<Job, 'timeoutMs' | 'onTimeout'>;

/** Where the output of an item goes; `null` where it is not downloaded. */
export interface DownloadTarget {
	propertyName: string;
	/** `null`: made from model and id. */
	fileName: string | null;
}

/** An item's options as they are, unchecked. */
export function optionsOf(context: IExecuteFunctions, itemIndex: number): Options {
	return context.getNodeParameter('options', itemIndex, {}) as Options;
}

/** What may be changed before a retry without asking for another generation. */
const OF_RUNNING = new Set([
	'waitForCompletion',
	'downloadOutput',
	'binaryPropertyName',
	'fileName',
	'idempotencyKey',
	'maxConcurrent',
	'onTimeout',
	'onUncertainCharge',
	'pollInterval',
	'readiness',
	'timeout',
]);

/**
 * What an item's order is made from: the parameters as they are written, expressions included, and the item that they
 * are read for. An expression may come out differently in every try (a random seed, the time).
 */
export function recipeOf(
	context: IExecuteFunctions,
	itemIndex: number,
): { request: string; idempotencyKey: string } {
	const { type, parameters } = context.getNode();
	const asking = (written: object) =>
		Object.entries(written).filter(([name]) => !OF_RUNNING.has(name));
	const { options = {}, ...others } = parameters;
	const { json } = context.getInputData()[itemIndex];
	return {
		request: asText([type, asking(others), asking(options as Options), json]),
		idempotencyKey: asText([(options as Options).idempotencyKey, json]),
	};
}

/** As JSON. An item may hold itself, such as the error of a request does: n8n takes it. */
function asText(value: object): string {
	try {
		return JSON.stringify(value);
	} catch {
		return jsonStringify(value, { replaceCircularRefs: true });
	}
}

/** How long one generation is waited for, and what then. @throws InvalidInputError */
export function waitingOf(options: Options, defaultTimeout: number): Waiting {
	return {
		timeoutMs: 1000 * positive('Timeout', options.timeout ?? defaultTimeout),
		onTimeout: oneOf('On Timeout', options.onTimeout ?? 'error', ['error', 'continue'] as const),
	};
}

/** What follows a lost answer. @throws InvalidInputError */
export function onUncertainChargeOf(options: Options): CreateJob['onUncertainCharge'] {
	const chosen = options.onUncertainCharge ?? 'error';
	return oneOf('On Uncertain Charge', chosen, ['error', 'resubmit'] as const);
}

/** How ends are noticed. @throws InvalidInputError */
export function readinessOf(options: Options): Readiness {
	return oneOf('Readiness', options.readiness ?? 'auto', ['auto', 'status', 'outputUrl'] as const);
}

/** What holds for a whole step. */
export interface StepOptions {
	maxConcurrent: number;
	pollIntervalMs: number;
}

/** Reads what holds for the whole step from an item's options, each of which is to be valid. @throws InvalidInputError */
export function stepOptions(options: Options): StepOptions {
	const maxConcurrent = integer('Max Concurrent', options.maxConcurrent ?? 10);
	return {
		maxConcurrent: positive('Max Concurrent', maxConcurrent, 1),
		// An expression knows nothing of the bound in the form.
		pollIntervalMs: 1000 * positive('Poll Interval', options.pollInterval ?? 3, 1),
	};
}

/**
 * What holds for the whole step, read from its first item, whatever else is invalid there. An invalid setting is an error
 * of that item only: the step then uses the default.
 */
export function stepOptionsOf(context: IExecuteFunctions): StepOptions {
	const validOr = (name: 'maxConcurrent' | 'pollInterval', defaults: StepOptions) => {
		try {
			return stepOptions({ [name]: optionOfFirst(context, name) });
		} catch {
			return defaults;
		}
	};
	const defaults = stepOptions({});
	const { maxConcurrent } = validOr('maxConcurrent', defaults);
	const { pollIntervalMs } = validOr('pollInterval', defaults);
	return { maxConcurrent, pollIntervalMs };
}

/** Reads an option by its path, so that n8n evaluates no other option: the expression of another one may fail. */
function optionOfFirst(context: IExecuteFunctions, name: string): unknown {
	// One expression may give the whole collection.
	const isWhole = typeof context.getNode().parameters.options === 'string';
	return isWhole
		? optionsOf(context, 0)[name]
		: context.getNodeParameter(`options.${name}`, 0, null);
}

/** @param options those of `form` */
export function downloadTarget(form: Form, options: Options): DownloadTarget | null {
	if (!yesOrNo('Download Output', form.downloadOutput)) return null;
	return {
		propertyName: requiredText('Put Output in Field', form.binaryPropertyName),
		fileName: textIfGiven('File Name', options.fileName),
	};
}

/** A switch that is on unless it is said otherwise. An expression may give its value as a text. */
export function yesOrNo(field: string, value: unknown): boolean {
	return oneOf(field, value ?? true, [true, false]);
}

/** A text, or `null` where the field was left empty. @throws InvalidInputError where it came to no text */
export function textIfGiven(field: string, value: unknown): string | null {
	return given(value) ? requiredText(field, value) : null;
}

/** Whether an optional field was filled in: one left empty is not sent. */
export function given(value: unknown): boolean {
	return value !== undefined && value !== null;
}

/** The fields that were filled in, each checked and under its wire name. */
export function filledIn(
	entries: Record<string, [value: unknown, check: (value: unknown) => unknown]>,
): Record<string, unknown> {
	return Object.fromEntries(
		Object.entries(entries)
			.filter(([, [value]]) => given(value))
			.map(([name, [value, check]]) => [name, check(value)])
			.filter(([, checked]) => !isEmptyList(checked)),
	);
}

function isEmptyList(value: unknown): boolean {
	return Array.isArray(value) && value.length === 0;
}
