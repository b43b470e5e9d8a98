import { randomUUID } from 'crypto';
import {
	type IBinaryData,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeProperties,
	type NodeParameterValueType,
} from 'n8n-workflow';

import { onAbort, toResult } from '../../../client/async';
import { cancelSignal } from '../execution';
import { isFile } from '../form/form';
import { evaluatedOptions, parameterOrNull } from '../form/unvalidated';
import { secretOf } from '../helper-workflow';
import { wallClock } from '../http/clock';
import { isCurrent, STORED_VERSION, type BatchState } from './batch-state';
import { otherVersion } from './other-version';

/**
 * The step of a sleeping batch, for the waves that work for it. Its items and parameters stay with the execution that
 * sleeps: a wave reads them there, so they are stored once and not with every wave.
 */

/** What the step stores for its waves. Expressions of the step do not work in another workflow. */
interface KeptParameters extends IDataObject {
	/**
	 * Proves to the step that a wave belongs to it. n8n lets every workflow read every execution: without this, any workflow
	 * could run as the step, with the step's items and with its own credential.
	 */
	secret: string;
	/** `STORED_VERSION` of the release that stored them. */
	v: number;
	/** The run index of the step. */
	run: number;
	/** One entry per item: the evaluated values of the parameters that contain expressions. */
	items: IDataObject[];
}

const KEPT = 'sleepingBatch';

/**
 * Returns a context that evaluates each expression only once. An expression may have another value each time, such as a
 * key with a random part: the waves need the values that the step began with.
 */
export function evaluatingOnce(context: IExecuteFunctions): IExecuteFunctions {
	const known = new Map<string, unknown>();
	const getNodeParameter = (name: string, itemIndex: number, fallback?: unknown) => {
		const place = `${itemIndex} ${name}`;
		if (!known.has(place)) known.set(place, context.getNodeParameter(name, itemIndex, fallback));
		return known.get(place);
	};
	return Object.assign(Object.create(context) as object, {
		getNodeParameter,
	}) as IExecuteFunctions;
}

/**
 * Stores the evaluated parameters of all items with the execution of the step.
 *
 * @param context evaluates each expression only once
 * @param run the run index of the step
 * @returns the secret for the helper workflows of the step
 */
export function keepParameters(
	context: IExecuteFunctions,
	fields: INodeProperties[],
	run: number,
): string {
	const { parameters } = context.getNode();
	const evaluated = fields.filter(({ name }) => hasExpression(parameters[name]));
	const items = context
		.getInputData()
		.map((_, itemIndex) =>
			Object.fromEntries(
				evaluated.map(({ name, default: fallback }) => [
					name,
					valueOf(context, name, itemIndex, fallback),
				]),
			),
		);
	const kept = context.getContext('node') as { [KEPT]?: KeptParameters };
	// All runs of a step in a loop share it.
	const secret = kept[KEPT]?.secret ?? randomUUID();
	kept[KEPT] = { v: STORED_VERSION, secret, run, items } as KeptParameters;
	return secret;
}

/** An expression that fails is an error of its item, which was reported before. */
function valueOf(context: IExecuteFunctions, name: string, itemIndex: number, fallback: unknown) {
	const isCollection = name === 'options' || name === 'runOptions';
	return isCollection
		? evaluatedOptions(context, itemIndex, name)
		: parameterOrNull(context, name, itemIndex, fallback);
}

function hasExpression(value: unknown): boolean {
	return JSON.stringify(value ?? null).includes('"=');
}

/** Which batch it is: the sleeping execution, its step, and the run of the step. An order or the state of the batch. */
type BatchOf = Pick<BatchState, 'v' | 'batch' | 'step' | 'run'>;

/** How often and how long to wait until n8n has stored the execution that sleeps. */
const STORING = { looks: 12, pauseMs: 5_000 };

/**
 * Returns a context in which a wave runs as the step itself.
 *
 * @returns `null` if that execution no longer sleeps: it was stopped, it ended, or it was deleted. Also `null` if the
 * helper workflow does not know the secret of the step
 * @throws NodeApiError if another release has stored the order or the parameters of the step, and this one cannot read them
 */
export async function stepOf(
	context: IExecuteFunctions,
	order: BatchOf,
): Promise<IExecuteFunctions | null> {
	if (!isCurrent(order)) throw await otherVersion(context, [order]);
	const { batch, step, run } = order;
	const secret = secretOf(context);
	if (secret === null) return null;
	const signal = cancelSignal(context);
	let isReadable = true;
	for (let looks = 0; looks < STORING.looks; looks++) {
		const data = await context.getExecutionDataById(batch);
		if (!data || data.resultData.error) return null;
		const task = data.executionData?.nodeExecutionStack[0];
		const kept = data.executionData?.contextData[`node:${step}`]?.[KEPT] as
			| KeptParameters
			| undefined;
		if (kept && kept.secret !== secret) return null;
		// Until n8n has stored the sleep, the execution seems to run, or to sleep in an earlier step or round of a loop.
		const isAsleep = Boolean(data.waitTill && task?.node.name === step);
		isReadable = !isAsleep || isCurrent(kept);
		if (task && kept && isAsleep && isReadable && kept.run === run) {
			const { node } = task;
			// n8n stores all items, even those that Execute Once leaves out.
			const items = (task.data.main[0] ?? []).slice(0, kept.items.length);
			return actingAs(context, batch, node, items, kept);
		}
		await wallClock.sleep(STORING.pauseMs, signal);
		if (signal.aborted) return null;
	}
	if (!isReadable) throw await otherVersion(context, [order]);
	return null;
}

/**
 * The pause between two checks whether the batch was stopped. Each check reads the sleeping execution with all of its
 * items, so the pause is at least this many times as long as the last check took.
 */
const STOP_CHECK = { leastMs: 5_000, ofCost: 50 };

/**
 * Runs the work of a wave, and ends it soon after the user has stopped the execution that sleeps: n8n stops that one only.
 *
 * @param step from `stepOf`
 * @param order of the execution that sleeps
 * @param work runs as the step, with a signal that aborts after a stop
 * @returns the result of the work, and whether the batch was stopped
 * @throws the error of the work
 */
export async function unlessStopped<T>(
	step: IExecuteFunctions,
	order: BatchOf,
	work: (step: IExecuteFunctions) => Promise<T>,
): Promise<{ result: T; stopped: boolean }> {
	const stop = new AbortController();
	const ended = new AbortController();
	const forget = onAbort(cancelSignal(step), () => stop.abort());
	let stopped = false;
	const watchBatch = async () => {
		let pauseMs = STOP_CHECK.leastMs;
		while (!stopped) {
			await wallClock.sleep(pauseMs, ended.signal);
			if (ended.signal.aborted) return;
			const began = wallClock.now();
			const found = await toResult(async () => await stepOf(step, order));
			stopped = found.ok && found.value === null;
			pauseMs = Math.max(STOP_CHECK.leastMs, STOP_CHECK.ofCost * (wallClock.now() - began));
		}
		stop.abort();
	};
	void watchBatch();
	const own = { getExecutionCancelSignal: () => stop.signal };
	const stoppable = Object.assign(Object.create(step) as object, own) as IExecuteFunctions;
	try {
		return { result: await work(stoppable), stopped };
	} finally {
		forget();
		ended.abort();
	}
}

function actingAs(
	context: IExecuteFunctions,
	batch: string,
	node: INode,
	items: INodeExecutionData[],
	kept: KeptParameters,
): IExecuteFunctions {
	const fileOf = (itemIndex: number, place: string | IBinaryData): IBinaryData => {
		if (isFile(place)) return place;
		const file: unknown =
			items[itemIndex].binary?.[place as string] ?? at(items[itemIndex].json, place as string);
		if (isFile(file)) return file;
		throw new Error(`The item has no binary field "${String(place)}"`);
	};
	const parameters = { ...node.parameters };
	const own = {
		getNode: () => node,
		getExecutionId: () => batch,
		getInputData: () => items,
		continueOnFail: () => continues(node),
		// The step has evaluated and checked its expressions.
		evaluateExpression: () => {
			throw new Error('Expressions are evaluated before the first sleep');
		},
		getNodeParameter: (name: string, itemIndex: number, fallback?: unknown) => {
			const values: INodeParameters = {
				...parameters,
				...(kept.items[itemIndex] as INodeParameters),
			};
			const value = at(values, name);
			return (value === undefined ? fallback : value) as NodeParameterValueType | object;
		},
		helpers: {
			...context.helpers,
			assertBinaryData: fileOf,
			getBinaryDataBuffer: async (itemIndex: number, place: string | IBinaryData) =>
				await context.helpers.getBinaryDataBuffer(0, fileOf(itemIndex, place)),
		},
	};
	return Object.assign(Object.create(context) as object, own) as unknown as IExecuteFunctions;
}

/** A name in a path, or one in brackets: `[0]`, `["a name"]`. */
const NAMES = /[^.[\]]+|\[(?:(\d+)|(["'])(.*?)\2)\]/g;

/** The value at a path as n8n reads it, such as `options.seed` or `_files.photos[0]`. */
function at(values: object, path: string): unknown {
	const names = [...path.matchAll(NAMES)].map(([name, index, , quoted]) => quoted ?? index ?? name);
	return names.reduce<unknown>(
		(value, name) => (value as Record<string, unknown> | null | undefined)?.[name],
		values,
	);
}

function continues({ onError, continueOnFail }: INode): boolean {
	if (onError === undefined) return continueOnFail ?? false;
	return onError !== 'stopWorkflow';
}
