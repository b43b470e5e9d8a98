import type { IBinaryData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { GenerationError } from '../../../client/api/errors';
import { NOTHING_KNOWN } from '../../../client/api/generation';
import type { Outcome } from '../../../client/outcome';
import { hasErrorOutput } from '../execution';
import { includesOtherFields } from '../form/parameters';
import { isLeftOut, itemIndexAt } from './outcomes';
import { descriptionOf, nodeError } from './node-error';
import { inFull, unitAt, type Unit } from './wording';

/** A downloaded output and the name of its binary field. */
export interface Output {
	propertyName: string;
	binary: IBinaryData;
}

/**
 * Converts outcomes to output items, in order and paired. A stopped item without a generation has no output
 * item, and neither has one that is left out.
 */
export function outputItems(
	context: IExecuteFunctions,
	outcomes: Array<Outcome<Output>>,
): INodeExecutionData[] {
	return outcomes.flatMap((outcome, position) => {
		const itemIndex = itemIndexAt(outcomes, position);
		const pairedItem = { item: itemIndex };
		const others = otherFields(context, itemIndex);
		switch (outcome.kind) {
			case 'done': {
				const json = { ...others, ...outcome.generation } as unknown as IDataObject;
				const { output } = outcome;
				if (output === null) return [{ json, pairedItem }];
				return [{ json, binary: { [output.propertyName]: output.binary }, pairedItem }];
			}
			case 'error':
				if (isLeftOut(context, outcome.error)) return [];
				return [
					errorItem(
						context,
						outcome.error,
						itemIndex,
						{ ...others, ...NOTHING_KNOWN },
						unitAt(outcomes, position),
					),
				];
			case 'stopped':
				if (outcome.generation === null) return [];
				return [{ json: { ...others, ...NOTHING_KNOWN, ...outcome.generation }, pairedItem }];
		}
	});
}

const OF_FAILURES = new Set(['error', 'error_code']);

/**
 * The fields of the input item that are returned with its output. `error` and `error_code` of an earlier failure are
 * omitted: n8n and later nodes would treat the output as failed.
 */
function otherFields(context: IExecuteFunctions, itemIndex: number): IDataObject {
	if (!includesOtherFields(context, itemIndex)) return {};
	const { json } = context.getInputData()[itemIndex];
	const kept = Object.entries(json ?? {}).filter(([name]) => !OF_FAILURES.has(name));
	return Object.fromEntries(kept) as IDataObject;
}

/** The error behind each error item, with more detail than its JSON. */
const failures = new WeakMap<INodeExecutionData, GenerationError>();

/** @returns the error that `errorItem` converted; `undefined` for any other item */
export function failureOf(item: INodeExecutionData): GenerationError | undefined {
	return failures.get(item);
}

/**
 * Builds the output item of a failed item.
 *
 * For an error output, n8n reads `error` on the item itself. n8n keeps the item's other JSON only if that
 * property is not enumerable. That item also keeps the input's fields and files.
 *
 * @param keys keys of a generation, so that failed items have the same keys as the others
 */
export function errorItem(
	context: IExecuteFunctions,
	error: GenerationError,
	itemIndex: number,
	keys: IDataObject = {},
	unit: Unit = 'item',
): INodeExecutionData {
	const item = itemOf(context, error, itemIndex, keys, unit);
	failures.set(item, error);
	return item;
}

function itemOf(
	context: IExecuteFunctions,
	error: GenerationError,
	itemIndex: number,
	keys: IDataObject,
	unit: Unit,
): INodeExecutionData {
	const { generation } = error;
	const failure: IDataObject = { error: inFull(error, unit), error_code: error.code };
	const pairedItem = { item: itemIndex };
	if (!hasErrorOutput(context)) {
		return { json: { ...keys, ...generation, ...failure }, pairedItem };
	}
	const { json, binary } = context.getInputData()[itemIndex];
	const known = {
		...(generation && { id: generation.id }),
		...(generation?.status && { status: generation.status }),
	};
	const item: INodeExecutionData = {
		json: { ...json, ...failure, ...known },
		...(binary && { binary }),
		pairedItem,
	};
	const shown = nodeError(context, error, itemIndex, descriptionOf(error, unit));
	return Object.defineProperty(item, 'error', { value: shown });
}
