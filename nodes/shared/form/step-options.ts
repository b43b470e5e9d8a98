import type { SpendLimits } from '../../../client/orders/spend-guard';
import { yieldBefore } from '../http/clock';
import { integer, limitOption, number, positive } from './checks';
import { optionByPath, type Options } from './parameters';
import type { Step } from '../step';

/** The settings of a whole step. */
export interface StepOptions extends SpendLimits {
	maxConcurrent: number;
	pollIntervalMs: number;
}

/** The run options that apply to the whole step, and what each one sets. */
const SETTINGS = {
	maxConcurrent: ({ maxConcurrent }) => ({
		maxConcurrent: positive('Max Concurrent', integer('Max Concurrent', maxConcurrent ?? 10), 1),
	}),
	// An expression can return a value below the field's minimum.
	pollInterval: ({ pollInterval }) => ({
		pollIntervalMs: 1000 * positive('Poll Interval', pollInterval ?? 3, 1),
	}),
	maxNewGenerations: (options) => ({
		maxNewGenerations: limitOption(
			'Limit New Generations',
			options,
			'maxNewGenerations',
			wholeLimit,
		),
	}),
	maxCredits: (options) => ({
		maxCredits: limitOption('Spend at Most', options, 'maxCredits', credits),
	}),
	minimumBalance: (options) => ({
		minimumBalance: limitOption('Stop Below Balance', options, 'minimumBalance', number),
	}),
} satisfies Record<string, (options: Options) => Partial<StepOptions>>;

type Name = keyof typeof SETTINGS;

/** A spending limit must hold even if the first item is invalid or has none: the first valid value decides. */
const LIMITS = new Set<Name>(['maxNewGenerations', 'maxCredits', 'minimumBalance']);

function wholeLimit(field: string, value: unknown): number {
	const limit = integer(field, value);
	return limit === 0 ? 0 : positive(field, limit, 1);
}

function credits(field: string, value: unknown): number {
	const limit = number(field, value);
	return limit === 0 ? 0 : positive(field, limit);
}

/**
 * Reads the settings of the step from an item's run options.
 *
 * @throws InvalidInputError
 */
export function stepOptions(options: Options): StepOptions {
	const read = Object.values(SETTINGS).map((setting) => setting(options));
	return Object.assign({}, ...read) as StepOptions;
}

/**
 * Reads the settings of the step: each spending limit from the first item with a valid one, the others from the first
 * item. The default replaces a missing or invalid setting, which is an error of its item only. Other invalid options do
 * not matter. Never throws.
 */
export async function stepOptionsOf(step: Step): Promise<StepOptions> {
	const options = stepOptions({});
	for (const name of Object.keys(SETTINGS) as Name[]) {
		Object.assign(options, await settingOf(step, name));
	}
	return options;
}

async function settingOf(step: Step, name: Name): Promise<Partial<StepOptions>> {
	const isLimit = LIMITS.has(name);
	const items = isLimit ? step.items.length : 1;
	for (let itemIndex = 0; itemIndex < items; itemIndex++) {
		await yieldBefore(itemIndex);
		try {
			const value = optionByPath(step, itemIndex, 'runOptions', name);
			if (isLimit && String(value ?? '').trim() === '') continue;
			return SETTINGS[name]({ [name]: value });
		} catch {
			// The item fails by itself.
		}
	}
	return {};
}
