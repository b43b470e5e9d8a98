import type { IExecuteFunctions } from 'n8n-workflow';

import { integer, oneOf, positive, requiredText } from '../../client/input/checks';
import type { Job, Readiness } from '../../client/jobs/job';

/** Reads parameters that several nodes have, checked. All throw `InvalidInputError`. */

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

export function optionsOf(context: IExecuteFunctions, itemIndex: number): Options {
	return context.getNodeParameter('options', itemIndex, {}) as Options;
}

/** What may be changed before a retry without asking for another generation. */
const OF_RUNNING = new Set([
	'waitForCompletion',
	'downloadOutput',
	'binaryPropertyName',
	'fileName',
	'maxConcurrent',
	'onTimeout',
	'onUncertainCharge',
	'pollInterval',
	'readiness',
	'timeout',
]);

/**
 * What an item's creating request is made from: the parameters as they are written, expressions included, and the item
 * that they are read for. An expression may come out differently in every try (a random seed, the time).
 */
export function recipeOf(context: IExecuteFunctions, itemIndex: number): string {
	const { type, parameters } = context.getNode();
	const asking = (written: object) =>
		Object.entries(written).filter(([name]) => !OF_RUNNING.has(name));
	const { options, ...others } = parameters;
	const chosen = options && typeof options === 'object' ? asking(options) : options;
	return JSON.stringify([type, asking(others), chosen, context.getInputData()[itemIndex].json]);
}

export function modelId(context: IExecuteFunctions, name: string, itemIndex: number): string {
	return requiredText(
		'Model',
		context.getNodeParameter(name, itemIndex, '', { extractValue: true }),
	);
}

export function readinessOf({ readiness = 'auto' }: Options): Readiness {
	return oneOf('Readiness', readiness, ['auto', 'status', 'outputUrl'] as const);
}

export function waitingOf(options: Options, defaultTimeout: number): Waiting {
	return {
		timeoutMs: 1000 * positive('Timeout', options.timeout ?? defaultTimeout),
		onTimeout: oneOf('On Timeout', options.onTimeout ?? 'error', ['error', 'continue'] as const),
	};
}

/** What holds for a whole step. */
export interface StepOptions {
	maxConcurrent: number;
	pollIntervalMs: number;
}

export function stepOptions(options: Options): StepOptions {
	const maxConcurrent = integer('Max Concurrent', options.maxConcurrent ?? 10);
	return {
		maxConcurrent: positive('Max Concurrent', maxConcurrent, 1),
		pollIntervalMs: 1000 * positive('Poll Interval', options.pollInterval ?? 3),
	};
}

export function downloadTarget(
	context: IExecuteFunctions,
	itemIndex: number,
	options: Options,
): DownloadTarget | null {
	if (!yesOrNo(context, 'downloadOutput', 'Download Output', itemIndex)) return null;
	const property = context.getNodeParameter('binaryPropertyName', itemIndex, 'data');
	return {
		propertyName: requiredText('Put Output in Field', property),
		fileName: given(options.fileName) ? String(options.fileName) : null,
	};
}

/** A switch that is on by default. An expression may give its value as a text. */
export function yesOrNo(
	context: IExecuteFunctions,
	name: string,
	field: string,
	itemIndex: number,
): boolean {
	return oneOf(field, context.getNodeParameter(name, itemIndex, true), [true, false]);
}

/** Whether an optional parameter was filled in: one left empty is not sent. */
export function given(value: unknown): boolean {
	return value !== undefined && value !== null && String(value).trim() !== '';
}

/** The entries that were filled in, each checked and under its wire name. */
export function filledIn(
	entries: Record<string, [value: unknown, check: (value: unknown) => unknown]>,
): Record<string, unknown> {
	const filled = Object.entries(entries).filter(([, [value]]) => given(value));
	return Object.fromEntries(filled.map(([name, [value, check]]) => [name, check(value)]));
}
