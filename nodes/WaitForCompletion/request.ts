import { looksLikeId } from '../../client/api/error-table';
import { GenerationError } from '../../client/api/errors';
import { asRecord, NOTHING_KNOWN } from '../../client/api/generation';
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
 * Reads and validates one item's parameters.
 *
 * @returns the generation to wait for, its run settings and its download
 * @throws InvalidInputError; with the generation if only another parameter is invalid
 * @throws GenerationError the error of an earlier node, if the item carries one and no id
 */
export function planWait(step: Step, itemIndex: number): Plan[] {
	const id = validId(step, itemIndex);
	const earlier = errorOfInput(step, itemIndex);
	if (earlier !== null && !hasGeneration(step, itemIndex, id)) throw withoutId(earlier);
	try {
		return [validPlan(step, itemIndex)];
	} catch (error) {
		throw withId(error, id);
	}
}

/** Adds the generation to an error of its item. */
function withId(error: unknown, id: string | null): unknown {
	return id !== null && error instanceof GenerationError
		? error.with({ generation: { id } })
		: error;
}

/** The generation ID of an item; `null` if it is not valid. */
function validId(step: Step, itemIndex: number): string | null {
	try {
		return idOf(step, itemIndex, valueAt(step, itemIndex, entryOf('generationId')));
	} catch {
		return null;
	}
}

/**
 * The generation ID of an item. An empty field takes it from the item: one of a node with Include Other Input Fields, a
 * row of the data table, or the output of any other node. The `id` of the first two may be a number of their own.
 */
function idOf(step: Step, itemIndex: number, given: unknown): string {
	if (given !== null) return given as string;
	const label = 'Generation ID';
	const found = idIn(asRecord(step.items[itemIndex].json));
	if (found !== undefined) return generationId(label, found);
	throw new InvalidInputError(
		'This item has no generation ID',
		`${label} is empty, and the item has no value in its fields generation.id, generation_id and id. Connect the output of Image Generation or Video Generation, or enter an ID.`,
	);
}

function idIn({ generation, generation_id, id }: Record<string, unknown>): unknown {
	const ids = [asRecord(generation).id, generation_id, id];
	return ids.find((each) => String(each ?? '').trim() !== '');
}

function validPlan(step: Step, itemIndex: number): Plan {
	const values = readForm(step, itemIndex, entries);
	const id = idOf(step, itemIndex, values.generationId);
	const item = asRecord(step.items[itemIndex].json);
	return {
		job: {
			kind: 'collect',
			itemIndex,
			id,
			wait: values.mode !== 'check',
			...waitingOf(step, values as Settings, WAIT_TIMEOUT),
		},
		download: downloadTarget(values as Settings),
		...(String(idIn(item)).trim() === id && { prompt: item.prompt }),
	};
}

/** Builds the error of an item that failed in an earlier node, before it had an ID. */
function withoutId({ error: title, error_code: code }: InputError): GenerationError {
	return new GenerationError({
		title,
		description:
			'An earlier node failed for this item, so there is no generation ID to wait for. Remove such items with a Filter node, or set On Error to Continue',
		code,
		charge: MAY_BE_CHARGED.has(code) ? 'unknown' : 'none',
	});
}

interface InputError {
	error: string;
	error_code: string;
}

/** The error of an earlier node that continued on error; `null` if the item carries none. */
function errorOfInput(step: Step, itemIndex: number): InputError | null {
	// Some nodes return an item with a file only.
	const { error, error_code } = asRecord(step.items[itemIndex].json);
	return typeof error === 'string' && typeof error_code === 'string' ? { error, error_code } : null;
}

/**
 * False for a failed item without a generation: it has no ID, or only one of its own, such as the number of a row. A UUID of
 * its own cannot be told from that of a generation.
 */
function hasGeneration(step: Step, itemIndex: number, id: string | null): boolean {
	if (id === null) return false;
	// An earlier node with Include Other Input Fields has put its generation into a field.
	const { json } = step.items[itemIndex];
	const generations = Object.values(asRecord(json)).map(asRecord).filter(isGeneration);
	if (generations.length > 0) return generations.some((generation) => generation.id === id);
	return isGeneration(asRecord(json)) || looksLikeId(id);
}

function isGeneration(value: Record<string, unknown>): boolean {
	return Object.keys(NOTHING_KNOWN).every((name) => name in value);
}

/** How the step waits. Never throws. */
export function modeOf(step: Step): unknown {
	return valueOfStep(step, entryOf('mode'));
}
