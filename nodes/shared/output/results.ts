import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { GenerationError } from '../../../client/api/errors';
import { NOTHING_KNOWN } from '../../../client/api/generation';
import { hasErrorOutput } from '../execution';
import { OF_FAILURES } from '../form/fields';
import { keptInput } from '../form/include-option';
import { isLeftOut, type ItemEnd } from './outcomes';
import { nodeError } from './node-error';
import { inFull } from './wording';
import { isAfterSleep, type Step } from '../step';

export interface Output {
	propertyName: string;
	binary: IBinaryData;
}

/**
 * Converts outcomes to output items, in order and paired. A stopped item without a generation gets no output item. Nor does
 * an item for which `isLeftOut` is true. Exception: after a sleep, if others follow, because n8n pairs by position.
 */
export function outputItems(step: Step, outcomes: Array<ItemEnd<Output>>): INodeExecutionData[] {
	// After a sleep, n8n pairs output and input items by position: none may be left out before `lastKept`, or pairs shift.
	const isReturned = outcomes.map((outcome) =>
		outcome.kind === 'error' ? !isLeftOut(step, outcome.error) : outcome.generation !== null,
	);
	const lastKept = isAfterSleep(step) ? isReturned.lastIndexOf(true) : -1;
	return outcomes.flatMap((outcome, position) => {
		const { itemIndex } = outcome;
		if (outcome.kind === 'error') {
			if (isLeftOut(step, outcome.error) && position > lastKept) return [];
			return [errorItem(step, outcome.error, itemIndex, NOTHING_KNOWN)];
		}
		if (outcome.generation === null) return [];
		const output = outcome.kind === 'done' ? outcome.output : null;
		return [itemOf(step, itemIndex, { ...NOTHING_KNOWN, ...outcome.generation }, { output })];
	});
}

/** Builds an output item: the generation, alone or in a field of the input item. */
function itemOf(
	step: Step,
	itemIndex: number,
	generation: IDataObject,
	{ failure, output }: { failure?: IDataObject; output?: Output | null } = {},
): INodeExecutionData {
	const kept = keptInput(step, itemIndex);
	// Error fields of an earlier step are removed from the input: they would show a success of this step as a failure.
	const fields: IDataObject = { ...kept?.json };
	for (const name of OF_FAILURES) delete fields[name];
	const keys = kept ? { ...fields, [kept.field]: generation } : generation;
	const binary = { ...kept?.binary, ...(output && { [output.propertyName]: output.binary }) };
	return {
		json: { ...keys, ...failure },
		...(Object.keys(binary).length > 0 && { binary }),
		pairedItem: { item: itemIndex },
	};
}

/**
 * Returns the output item of a failed item. In an error output, it is the input item with the error and the known id and
 * status. If an item has the property `error`, n8n puts a copy of it into the error output. The property is not enumerable,
 * so that it is not copied: n8n would replace the JSON of the copy by the error's message.
 */
export function errorItem(
	step: Step,
	error: GenerationError,
	itemIndex: number,
	keys: IDataObject = {},
): INodeExecutionData {
	const failure: IDataObject = { error: inFull(error), error_code: error.code };
	const { json, binary } = step.items[itemIndex];
	const { id, status } = error.generation ?? {};
	const item: INodeExecutionData =
		hasErrorOutput(step) && keptInput(step, itemIndex) === null
			? {
					json: { ...json, ...failure, ...(id && { id }), ...(status && { status }) },
					...(binary && { binary }),
					pairedItem: { item: itemIndex },
				}
			: itemOf(step, itemIndex, { ...keys, ...error.generation }, { failure });
	if (hasErrorOutput(step)) {
		Object.defineProperty(item, 'error', { value: nodeError(step, error, itemIndex) });
	}
	return item;
}
