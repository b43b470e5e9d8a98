import { looksLikeId } from '../../client/api/error-table';
import { GenerationError } from '../../client/api/errors';
import { asRecord } from '../../client/api/generation';
import { generationId, InvalidInputError } from '../shared/form/checks';
import { entriesOf, readForm, valueAt, validValue, type Entry } from '../shared/form/form';
import { deliveryOf, type Settings } from '../shared/form/parameters';
import type { Plan } from '../shared/form/plan-items';
import { WAIT_TIMEOUT, waitFields } from './fields';
import type { Step } from '../shared/step';

const entries = entriesOf(waitFields);
const entryOf = (name: string) => entries.find((entry) => entry.name === name) as Entry;

/**
 * Reads and validates one item's parameters. Throws InvalidInputError. If the ID is valid, and another parameter is not, the
 * error contains the ID as its `generation`.
 */
export function planWait(step: Step, itemIndex: number): Plan[] {
	// `json` may be missing: some nodes return items with a file only.
	const item = asRecord(step.items[itemIndex].json);
	const { error: earlier, error_code: code } = item;
	const hasFailed = typeof earlier === 'string' && typeof code === 'string';
	let id: string | null = null;
	try {
		id = idOf(step, itemIndex, item, hasFailed);
		const values = readForm(step, itemIndex, entries);
		const wait = values.mode !== 'check';
		const { waiting, download } = deliveryOf(step, values as Settings, WAIT_TIMEOUT);
		return [
			{
				job: { kind: 'collect', itemIndex, id, wait, ...waiting },
				download,
				...(String(idIn(item)).trim() === id && { prompt: item.prompt }),
			},
		];
	} catch (error) {
		// Only the earlier node's error says whether the item was charged, so quote it, and leave the charge `unknown`.
		const details = `An earlier node failed for it: ${String(earlier)}`;
		const ofItem = hasFailed && { details, charge: 'unknown' as const };
		const more = id === null ? ofItem : { generation: { id } };
		throw error instanceof GenerationError ? error.with({ ...more }) : error;
	}
}

/** Returns the generation ID of an item. `hasFailed`: the item has the error of an earlier node. */
function idOf(
	step: Step,
	itemIndex: number,
	item: Record<string, unknown>,
	hasFailed: boolean,
): string {
	const label = 'Generation ID';
	const given = valueAt(step, itemIndex, entryOf('generationId')) ?? idIn(item);
	// After an error in an earlier node, `id` may be the user's own field, such as a row number, and not a generation ID.
	const isNoId = hasFailed && !looksLikeId(String(given));
	if (given !== undefined && !isNoId) return generationId(label, given);
	throw new InvalidInputError(
		'This item has no generation ID',
		hasFailed
			? 'Remove such items with a Filter node, or set On Error to Continue'
			: `${label} is empty, and the item has no value in its fields generation.id, generation_id and id. Connect the output of Image Generation or Video Generation, or enter an ID.`,
	);
}

/** Finds the ID in an item: in the output of a creating node (`generation.id` or `id`), or in a row of a data table. */
function idIn({ generation, generation_id, id }: Record<string, unknown>): unknown {
	const ids = [asRecord(generation).id, generation_id, id];
	return ids.find((each) => String(each ?? '').trim() !== '');
}

/** Returns the Mode of the step, from the first item in which it is valid. Never throws. */
export function modeOf(step: Step): unknown {
	return validValue(step, entryOf('mode'));
}
