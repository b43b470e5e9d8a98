import type { INodeProperties } from 'n8n-workflow';

import { InvalidInputError, invalid } from './checks';
import { requireParts } from './expressions';
import { optionByPath, textIfSet, type Options } from './parameters';
import type { Step } from '../step';

/** The name that idempotency keys belong to, instead of a node of a workflow. */

const NAME = 'keyScope';
const LABEL = 'Share Keys Under a Name';
const FIELD = {
	displayName: LABEL,
	name: NAME,
	type: 'string',
	default: '',
} satisfies INodeProperties;

/** The table shows the name in a column, and a longer one is no name. */
const LONGEST_SCOPE = 100;

/**
 * Checks the key scope of an item with an idempotency key.
 *
 * @throws InvalidInputError if it is no name, or differs from that of the step
 */
export function requireKeyScope(step: Step, options: Options): void {
	const scope = keyScopeOf(options[NAME]);
	if (!isUsed(step)) return;
	const ofStep = keyScopeOfStep(step);
	if (scope === ofStep) return;
	throw new InvalidInputError(
		`${LABEL} must be the same for all items, but it is ${shown(scope)} here and ${shown(ofStep)} for an earlier item`,
		'Put the part that differs between items into the Idempotency Key.',
	);
}

/** The key scope of a step: that of the first item with a valid one. `null` if there is none. Never throws. */
export function keyScopeOfStep(step: Step): string | null {
	if (!isUsed(step)) return null;
	const known = step.keyScope === undefined ? ofSteps.get(step) : step.keyScope;
	if (known !== undefined) return known;
	const scope = firstValid(step);
	ofSteps.set(step, scope);
	return scope;
}

/** Read once for a step: each of thousands of items asks for it. */
const ofSteps = new WeakMap<Step, string | null>();

function firstValid(step: Step): string | null {
	const { options = {} } = step.node.parameters;
	const written = typeof options === 'string' ? undefined : (options as Options)[NAME];
	const items = step.items.length;
	for (let itemIndex = 0; itemIndex < items; itemIndex++) {
		try {
			requireParts({ step, itemIndex }, FIELD, written);
			const value: unknown = optionByPath(step, itemIndex, 'options', NAME);
			if (value !== undefined) return keyScopeOf(value);
		} catch {
			// The item fails by itself.
		}
	}
	return null;
}

function isUsed(step: Step): boolean {
	const { options = {} } = step.node.parameters;
	return typeof options === 'string' || (options as Options)[NAME] !== undefined;
}

function keyScopeOf(value: unknown): string | null {
	const isEmpty = typeof value === 'string' && value.trim() === '';
	// Characters with accents have several encodings.
	const scope = isEmpty ? null : (textIfSet(LABEL, value)?.normalize() ?? null);
	if (scope === null) return null;
	// No database stores these.
	if (/[\0\p{Surrogate}]/u.test(scope))
		throw invalid(LABEL, 'text without broken characters', scope);
	if (scope.length <= LONGEST_SCOPE) return scope;
	throw invalid(LABEL, `at most ${LONGEST_SCOPE} characters long`, scope);
}

function shown(scope: string | null): string {
	return scope === null ? 'empty' : `"${scope}"`;
}
