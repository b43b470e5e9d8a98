import { randomUUID } from 'crypto';
import type { IBinaryData, IDataObject, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import { isObject } from '../form/checks';
import { keyScopeOfStep } from '../form/step-options';
import type { Caller, Step } from '../step';
import type { SleepState } from './state';

/**
 * The step as data, for the helper executions that work for it while it sleeps. Its items and parameters stay with the
 * execution that sleeps. Helper executions read them there, so that they are stored only once.
 */

/** A step stores its parameters under this key in the context of its node (`getContext('node')`). */
export const KEPT = 'sleepingBatch';

/** What a step stores for its helper executions. Expressions would not work in a helper workflow, so values are stored. */
export interface KeptParameters extends IDataObject {
	/**
	 * Proves that a helper execution belongs to the step. n8n lets every workflow read every execution: without the secret,
	 * any workflow could run as the step, with the step's items and a credential of its own.
	 */
	secret: string;
	/** The run index of the step. */
	run: number;
	/** The step's key scope: nodes of one type with the same scope share their idempotency keys. `null`: no scope. */
	keyScope: string | null;
	/** One entry per item: the evaluated values of the parameters that contain expressions. */
	items: IDataObject[];
}

/**
 * Stores the evaluated parameters of all items with the execution of the step.
 *
 * @param step from `evaluatingOnce`, so that the stored values are the ones that the step has used
 * @param run the run index of the step
 * @returns the secret for the helper workflows of the step
 */
export function keepParameters(
	step: Step,
	fields: INodeProperties[],
	run: SleepState['run'],
): string {
	const { parameters } = step.node;
	const evaluated = fields.filter(({ name }) => hasExpression(parameters[name]));
	const items = step.items.map((_, itemIndex) =>
		Object.fromEntries(
			evaluated.map(({ name }) => [name, evaluatedIn(step, itemIndex, name, parameters[name])]),
		),
	);
	const kept = step.n8n.getContext('node') as { [KEPT]?: KeptParameters };
	// If the node runs in a loop, all of its runs share this context, and therefore one secret.
	const secret = kept[KEPT]?.secret ?? randomUUID();
	const keyScope = keyScopeOfStep(step);
	kept[KEPT] = { secret, run, keyScope, items } as KeptParameters;
	return secret;
}

function hasExpression(value: unknown): boolean {
	return JSON.stringify(value ?? null).includes('"=');
}

/**
 * Evaluates a parameter. Reads each field by the same path as `planItems`: `evaluatingOnce` remembers values by their path,
 * so another path may return another value. A failed expression becomes `null`: its item has already failed.
 */
function evaluatedIn(step: Step, itemIndex: number, path: string, written: unknown): unknown {
	const within = (name: string | number, part: unknown) =>
		evaluatedIn(
			step,
			itemIndex,
			typeof name === 'number' ? `${path}[${name}]` : `${path}.${name}`,
			part,
		);
	if (Array.isArray(written)) return written.map((part, index) => within(index, part));
	// A resource locator (an object with a `mode`) is not split: `planItems` has read it as a whole.
	if (isObject(written) && !('mode' in written)) {
		return Object.fromEntries(
			Object.entries(written).map(([name, part]) => [name, within(name, part)]),
		);
	}
	try {
		return step.parameter(path, itemIndex, null);
	} catch {
		return null;
	}
}

/** The step that sleeps, with its stored items and parameters, and with `n8n` and `signal` of a helper execution. */
export function keptStep(
	{ n8n, signal }: Pick<Caller, 'signal'> & Pick<Step, 'n8n'>,
	{
		execution,
		node,
		items,
		kept,
	}: Pick<Step, 'execution' | 'node' | 'items'> & { kept: KeptParameters },
): Step {
	return {
		n8n,
		signal,
		execution,
		node,
		items,
		parameter: (path, itemIndex, fallback) => {
			const value = at({ ...node.parameters, ...kept.items[itemIndex] }, path);
			return value === undefined ? fallback : value;
		},
		evaluate: null,
		keyScope: kept.keyScope,
		file: (itemIndex, place) => fileAt(items[itemIndex], place),
	};
}

function fileAt({ json, binary }: INodeExecutionData, place: string): IBinaryData {
	const file: unknown = binary?.[place] ?? at(json, place);
	if (isObject(file) && 'mimeType' in file) return file as unknown as IBinaryData;
	throw new Error(`The item has no binary field "${place}"`);
}

/** Matches one part of a path: a plain name, or one in brackets, such as `[0]` or `["a name"]`. */
const NAMES = /[^.[\]]+|\[(?:(\d+)|(["'])(.*?)\2)\]/g;

/** The value at a path in n8n's notation, such as `options.seed` or `_files.photos[0]`. */
function at(values: object, path: string): unknown {
	const names = [...path.matchAll(NAMES)].map(([name, index, , quoted]) => quoted ?? index ?? name);
	return names.reduce<unknown>(
		(value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
		values,
	);
}
