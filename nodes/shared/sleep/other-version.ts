import type { NodeApiError } from 'n8n-workflow';

import { toResult } from '../../../client/async';
import { hasId, isLive } from '../../../client/orders/table';
import { sentences } from '../../../client/text';
import { descriptionOf, nodeError } from '../output/node-error';
import { rowsOfExecution } from '../record/data-table';
import { endedEarly, type Advice } from './failure';
import type { Step } from '../step';

/**
 * The error of a step whose stored state this release cannot read. It names every generation: those in the state, in
 * any form, and those that the table has for the execution of the step.
 *
 * @param stored what was read, such as the state of a batch and the report of a wave
 */
export async function otherVersion(
	helper: Step,
	stored: unknown[],
	advice: Advice,
): Promise<NodeApiError> {
	const error = endedEarly(
		advice,
		'The package was updated while the step was asleep, so it ended',
		'This release cannot read what the other release stored',
		{ first: 'Update the package only while no step sleeps.' },
	);
	const batch = batchIn(stored);
	const rows = await toResult(async () => await rowsOfExecution(helper, batch));
	const written =
		batch !== '' && rows.ok ? rows.value.filter((row) => isLive(row) && hasId(row)) : [];
	const ids = [...new Set([...idsIn(stored), ...written.map((row) => row.generation_id)])];
	const description = sentences(
		descriptionOf(error),
		ids.length > 0 && `Generations of the batch: ${ids.join(', ')}`,
	);
	return nodeError(helper, error, 0, description, {
		code: error.code,
		generations: ids.map((id) => ({ id, status: null })),
	});
}

/** The id of the step's execution. All releases call it `batch`. */
function batchIn(stored: unknown[]): string {
	const ids = stored.map((one) => (one as { batch?: unknown } | undefined)?.batch);
	return String(ids.find((id) => typeof id === 'string') ?? '');
}

/** The names under which releases store the id of a generation. */
const ID_FIELDS = new Set(['id', 'generation_id']);

/** All generation ids in stored data of an unknown form. */
function idsIn(stored: unknown): string[] {
	if (typeof stored !== 'object' || stored === null) return [];
	return Object.entries(stored).flatMap(([name, value]: [string, unknown]) => {
		if (name === 'waits') return Object.keys(value ?? {});
		if (ID_FIELDS.has(name) && typeof value === 'string' && value !== '') return [value];
		return idsIn(value);
	});
}
