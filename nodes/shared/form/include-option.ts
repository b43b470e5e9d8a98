import type { INodeExecutionData } from 'n8n-workflow';

import { runsAsTool } from '../execution';
import { GENERATION_FIELD } from './fields';
import { validValue } from './form';
import { sharedOption } from './step-options';
import type { Step } from '../step';

/**
 * What the output of an item keeps of its input, and the field of the generation in it; `null` if it is the generation
 * alone. Never throws: an invalid item is returned as well.
 */
export function keptInput(step: Step, itemIndex: number) {
	const read = (name: string) => validValue(step, sharedOption(name), [itemIndex]);
	if (read('includeOtherFields') !== true) return null;
	// Some nodes return an item with a file only.
	const { json = {}, binary } = step.items[itemIndex] as Partial<INodeExecutionData>;
	return {
		json,
		// A tool returns JSON only.
		binary: runsAsTool(step) ? undefined : binary,
		field: (read('generationField') as string | null) ?? GENERATION_FIELD,
	};
}
