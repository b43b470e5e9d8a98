import { looksLikeId } from '../../client/api/error-table';
import { GenerationError } from '../../client/api/errors';
import { asRecord } from '../../client/api/generation';
import { generationId, InvalidInputError } from '../shared/form/checks';
import { entriesOf, readForm, valueAt, valueOfStep, type Entry } from '../shared/form/form';
import { downloadTarget, waitingOf, type Settings } from '../shared/form/parameters';
import type { Plan } from '../shared/form/plan-items';
import { WAIT_TIMEOUT, waitFields } from './fields';
import type { Step } from '../shared/step';

const entries = entriesOf(waitFields);
const entryOf = (name: string) => entries.find((entry) => entry.name === name) as Entry;

/** Codes of errors after which an item may have been charged although it has no ID. */
const MAY_BE_CHARGED = new Set([
	'uncertain_charge',
	'batch_interrupted',
	'wait_interrupted',
	'record_unavailable',
	'unexpected_error',
]);

/**
 * Reads and validates one item's parameters. Throws InvalidInputError, with the generation if only another parameter is
 * invalid, or the error of an earlier node if the item carries one and no id.
 */
export function planWait(step: Step, itemIndex: number): Plan[] {
	// Some nodes return an item with a file only.
	const item = asRecord(step.items[itemIndex].json);
	const id = idOf(step, itemIndex, item);
	try {
		const values = readForm(step, itemIndex, entries);
		const wait = values.mode !== 'check';
		const waiting = waitingOf(step, values as Settings, WAIT_TIMEOUT);
		return [
			{
				job: { kind: 'collect', itemIndex, id, wait, ...waiting },
				download: downloadTarget(step, values as Settings),
				...(String(idIn(item)).trim() === id && { prompt: item.prompt }),
			},
		];
	} catch (error) {
		throw error instanceof GenerationError ? error.with({ generation: { id } }) : error;
	}
}

/** The generation ID of an item. An item that failed in an earlier node, before it had one, throws that error. */
function idOf(step: Step, itemIndex: number, item: Record<string, unknown>): string {
	const { error: title, error_code: code } = item;
	const earlier =
		typeof title === 'string' && typeof code === 'string' ? withoutId(title, code) : null;
	try {
		const id = (valueAt(step, itemIndex, entryOf('generationId')) ?? idFrom(item)) as string;
		// Otherwise it may be an ID of the item's own, such as the number of a row.
		if (earlier === null || looksLikeId(id)) return id;
	} catch (error) {
		throw earlier ?? error;
	}
	throw earlier;
}

function withoutId(title: string, code: string): GenerationError {
	return new GenerationError({
		title,
		description:
			'An earlier node failed for this item, so there is no generation ID to wait for. Remove such items with a Filter node, or set On Error to Continue',
		code,
		charge: MAY_BE_CHARGED.has(code) ? 'unknown' : 'none',
	});
}

function idFrom(item: Record<string, unknown>): string {
	const label = 'Generation ID';
	const found = idIn(item);
	if (found !== undefined) return generationId(label, found);
	throw new InvalidInputError(
		'This item has no generation ID',
		`${label} is empty, and the item has no value in its fields generation.id, generation_id and id. Connect the output of Image Generation or Video Generation, or enter an ID.`,
	);
}

/** The ID in an item with Include Other Input Fields, in a row of the data table, or in the output of any other node. */
function idIn({ generation, generation_id, id }: Record<string, unknown>): unknown {
	const ids = [asRecord(generation).id, generation_id, id];
	return ids.find((each) => String(each ?? '').trim() !== '');
}

/** How the step waits. Never throws. */
export function modeOf(step: Step): unknown {
	return valueOfStep(step, entryOf('mode'));
}
