import type { SpendLimits } from '../../../client/orders/spend-guard';
import { InvalidInputError } from './checks';
import { creatingOptions, collectionField } from './fields';
import { entriesOf, validValue, type Entry } from './form';
import { creatingRunOptions } from './run-options';
import type { Step } from '../step';

/** Settings of a whole step: the first valid value of its items counts. An invalid value fails only its own item. */

const SHARED = entriesOf([
	collectionField('options', 'Option', creatingOptions()),
	collectionField('runOptions', 'Run Option', creatingRunOptions(0)),
]);

/** Returns an option of the creating nodes by its name. Wait for Completion has some of these options, too. */
export function sharedOption(name: string): Entry {
	return SHARED.find((option) => option.name === name) as Entry;
}

export interface StepOptions extends SpendLimits {
	maxConcurrent: number;
	pollIntervalMs: number;
}

/** Reads the settings of the step. A missing setting gets its default; a missing limit is `null`. Never throws. */
export function stepOptionsOf(step: Step): StepOptions {
	const read = (name: string) => validValue(step, sharedOption(name)) as number | null;
	return {
		maxConcurrent: read('maxConcurrent') ?? 10,
		pollIntervalMs: 1000 * (read('pollInterval') ?? 3),
		maxNewGenerations: read('maxNewGenerations'),
		maxCredits: read('maxCredits'),
		minimumBalance: read('minimumBalance'),
	};
}

/** Returns what the step does while generations run: keep polling, or let the execution sleep. Never throws. */
export function whileWaitingOf(step: Step): 'poll' | 'suspend' {
	return validValue(step, sharedOption('whileWaiting')) === 'suspend' ? 'suspend' : 'poll';
}

/** Returns the name under which nodes share idempotency keys; `null`: this node shares no keys. Never throws. */
export function keyScopeOfStep(step: Step): string | null {
	if (step.keyScope !== undefined) return step.keyScope;
	return validValue(step, sharedOption('keyScope')) as string | null;
}

/** @throws InvalidInputError if `scope`, the key scope of an item, differs from the key scope of the step */
export function requireKeyScope(step: Step, scope: string | null): void {
	const ofStep = keyScopeOfStep(step);
	if (scope === ofStep) return;
	const shown = (name: string | null) => (name === null ? 'empty' : `"${name}"`);
	throw new InvalidInputError(
		`${sharedOption('keyScope').label} must be the same for all items, but it is ${shown(scope)} here and ${shown(ofStep)} for an earlier item`,
		'Put the part that differs between items into the Idempotency Key.',
	);
}
