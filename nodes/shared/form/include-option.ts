import type { INodeExecutionData } from 'n8n-workflow';

import { runsAsTool } from '../execution';
import { GENERATION_FIELD } from './fields';
import { validValue } from './form';
import { sharedOption } from './step-options';
import type { Step } from '../step';

/**
 * Returns what an output item keeps of its input item, and the name of the field for the generation; `null` if the output
 * item is the generation alone. Never throws, because an item with invalid options gets an output item, too.
 */
export function keptInput(step: Step, itemIndex: number) {
	const read = (name: string) => validValue(step, sharedOption(name), [itemIndex]);
	if (read('includeOtherFields') !== true) return null;
	// Some nodes return items that have a file, but no `json`.
	const { json = {}, binary } = step.items[itemIndex] as Partial<INodeExecutionData>;
	return {
		json,
		// A tool returns JSON only.
		binary: runsAsTool(step) ? undefined : binary,
		field: (read('generationField') as string | null) ?? GENERATION_FIELD,
	};
}
