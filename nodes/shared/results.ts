import type { IBinaryData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { GenerationError } from '../../client/wire/errors';
import { NOTHING_KNOWN } from '../../client/wire/generation';
import type { Outcome } from '../../client/jobs/outcome';
import { hasErrorOutput } from './execution';
import { nodeError } from './node-error';
import { inFull } from './wording';

/** A downloaded output, and the name of the binary field it goes into. */
export interface Output {
	propertyName: string;
	binary: IBinaryData;
}

/** One output item for each outcome that has something to hand on, in order and paired. */
export function outputItems(
	context: IExecuteFunctions,
	outcomes: Array<Outcome<Output>>,
): INodeExecutionData[] {
	return outcomes.flatMap((outcome, itemIndex) => {
		const pairedItem = { item: itemIndex };
		switch (outcome.kind) {
			case 'done': {
				const json = { ...outcome.generation } as unknown as IDataObject;
				const { output } = outcome;
				if (output === null) return [{ json, pairedItem }];
				return [{ json, binary: { [output.propertyName]: output.binary }, pairedItem }];
			}
			case 'error':
				return [errorItem(context, outcome.error, itemIndex, NOTHING_KNOWN)];
			case 'stopped':
				if (outcome.generation === null) return [];
				return [{ json: { ...NOTHING_KNOWN, ...outcome.generation }, pairedItem }];
		}
	});
}

/** What each item of a failure tells of, beside what the workflow sees of it. */
const failures = new WeakMap<INodeExecutionData, GenerationError>();

/** @returns the error that `errorItem` has made an item of; `undefined` for any other item */
export function failureOf(item: INodeExecutionData): GenerationError | undefined {
	return failures.get(item);
}

/**
 * The item of a failure that the workflow goes on with. For an error output n8n looks for `error` on the item itself,
 * and keeps the rest of its JSON only where that property is not enumerable; there it keeps the input's own fields and
 * files.
 *
 * @param keys that all items of this node have, so that a failed one has them too
 */
export function errorItem(
	context: IExecuteFunctions,
	error: GenerationError,
	itemIndex: number,
	keys: IDataObject = {},
): INodeExecutionData {
	const item = itemOf(context, error, itemIndex, keys);
	failures.set(item, error);
	return item;
}

function itemOf(
	context: IExecuteFunctions,
	error: GenerationError,
	itemIndex: number,
	keys: IDataObject,
): INodeExecutionData {
	const { generation } = error;
	const failure: IDataObject = { error: inFull(error), error_code: error.code };
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
	return Object.defineProperty(item, 'error', { value: nodeError(context, error, itemIndex) });
}
