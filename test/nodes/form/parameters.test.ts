import type { IDataObject, INode } from 'n8n-workflow';

import {
	checkedFields,
	choiceOf,
	downloadTarget,
	recipeOf,
	waitingOf,
} from '../../../nodes/shared/form/parameters';
import { stepOptions, stepOptionsOf } from '../../../nodes/shared/form/step-options';
import { InvalidInputError } from '../../../nodes/shared/form/checks';
import { contextOf } from '../../support/context';

const step = contextOf().step;

describe('the options of running', () => {
	it('have the defaults of the contract', () => {
		expect(waitingOf(step, {}, 600)).toEqual({ timeoutMs: 600_000, onTimeout: 'error' });
		expect(choiceOf({}, 'onUncertainCharge')).toBe('error');
		expect(stepOptions({})).toMatchObject({ maxConcurrent: 10, pollIntervalMs: 3000 });
		expect(choiceOf({}, 'readiness')).toBe('auto');
	});

	it('accept the types that expressions return', () => {
		const options = { timeout: '1.5', onTimeout: 'continue', onUncertainCharge: 'resubmit' };
		expect(waitingOf(step, options, 600)).toEqual({ timeoutMs: 1500, onTimeout: 'continue' });
		expect(choiceOf(options, 'onUncertainCharge')).toBe('resubmit');
		expect(stepOptions({ maxConcurrent: '3', pollInterval: '1.5' })).toMatchObject({
			maxConcurrent: 3,
			pollIntervalMs: 1500,
		});
	});

	it.each([
		['Timeout', { timeout: 0 }],
		['Timeout', { timeout: 'soon' }],
		['On Timeout', { onTimeout: 'explode' }],
		['On Uncertain Charge', { onUncertainCharge: 'maybe' }],
		['Max Concurrent', { maxConcurrent: 0 }],
		['Max Concurrent', { maxConcurrent: 1.5 }],
		['Max Concurrent', { maxConcurrent: -1 }],
		['Max Concurrent', { maxConcurrent: '' }],
		['Poll Interval', { pollInterval: 0 }],
		['Poll Interval', { pollInterval: 0.99 }],
		['Readiness', { readiness: 'head' }],
		['Poll Interval', { pollInterval: -3 }],
	])('are rejected by name: %s in %j', (name, options) => {
		const read = () => [
			waitingOf(step, options, 600),
			stepOptions(options),
			choiceOf(options, 'readiness'),
			choiceOf(options, 'onUncertainCharge'),
		];
		expect(read).toThrow(InvalidInputError);
		expect(read).toThrow(new RegExp(`^${name} `));
	});

	it('say the minimum number of generations', () => {
		expect(() => stepOptions({ maxConcurrent: 0 })).toThrow('must be at least 1');
	});
});

describe('the options of the whole step', () => {
	const read = async (...options: unknown[]) =>
		await stepOptionsOf(contextOf({ parameters: options.map(byPath), items: [] }).step);
	/** Builds parameters by the paths that n8n uses to find an option. */
	const byPath = (options: unknown): IDataObject =>
		Object.fromEntries(
			Object.entries(options as object).map(([name, value]) => [`runOptions.${name}`, value]),
		);

	it('are those of the first item', async () => {
		expect(await read({ maxConcurrent: 2, pollInterval: 5 }, { maxConcurrent: 3 })).toMatchObject({
			maxConcurrent: 2,
			pollIntervalMs: 5000,
		});
		expect(await read({}, { maxConcurrent: 3 })).toMatchObject({
			maxConcurrent: 10,
			pollIntervalMs: 3000,
		});
	});

	it('use their defaults if they are invalid, each separately', async () => {
		expect(await read({ maxConcurrent: 0, pollInterval: 5 })).toMatchObject({
			maxConcurrent: 10,
			pollIntervalMs: 5000,
		});
		expect(await read({ maxConcurrent: 2, pollInterval: 'soon' })).toMatchObject({
			maxConcurrent: 2,
			pollIntervalMs: 3000,
		});
	});

	it('may all come from one expression', async () => {
		const node = { parameters: { runOptions: '={{ $json.options }}' } };
		const given = async (runOptions: IDataObject) =>
			await stepOptionsOf(contextOf({ node, parameters: { runOptions } }).step);
		expect((await given({ maxConcurrent: 2 })).maxConcurrent).toBe(2);
	});
});

describe('where the output goes', () => {
	it('is a name made of the generation, by default', () => {
		expect(downloadTarget({}, {})).toEqual({ propertyName: 'data', fileName: null });
	});

	it('is where the user chose', () => {
		const target = downloadTarget({}, { binaryPropertyName: 'picture', fileName: 'lighthouse' });
		expect(target).toEqual({ propertyName: 'picture', fileName: 'lighthouse' });
		expect(downloadTarget({}, { fileName: null })?.fileName).toBeNull();
	});

	it('is nowhere if it is not downloaded', () => {
		expect(downloadTarget({ downloadOutput: 'false' }, {})).toBeNull();
	});

	it('is the field data if the name is empty', () => {
		expect(downloadTarget({}, { binaryPropertyName: null })?.propertyName).toBe('data');
	});
});

describe('an optional field', () => {
	it('is checked and sent under its wire name; an empty one is neither', () => {
		const never = () => {
			throw new Error('Checked');
		};
		const filled = checkedFields({
			seed: [0, Number],
			negative_prompt: [null, never],
			input_images: [' , ', () => []],
			fps: ['24', Number],
		});
		expect(filled).toEqual({ seed: 0, fps: 24 });
	});
});

describe('what an order is made from', () => {
	const options = { seed: '={{ Math.random() }}', fileName: 'a' };
	const written = { prompt: '={{ $now }}', options, runOptions: { timeout: 60 } };
	const recipe = (parameters: IDataObject, json: IDataObject = { a: 1 }) =>
		recipes(parameters, json).request;
	const recipes = (parameters: IDataObject, json: IDataObject = { a: 1 }) =>
		recipeOf(contextOf({ items: [{ json }], node: { parameters } as Partial<INode> }).step, 0);

	it('keeps the idempotency key separate', () => {
		const named = (idempotencyKey: string) => recipes({ ...written, options: { idempotencyKey } });
		expect(named('={{ $now }}').idempotencyKey).toContain('={{ $now }}');
		expect(named('a').request).toBe(named('b').request);
		expect(named('a').idempotencyKey).not.toBe(named('b').idempotencyKey);
	});

	it('is the parameter as written, not its result, and does not depend on run options', () => {
		const { prompt } = written;
		expect(recipe(written)).toContain('={{ $now }}');
		const later = {
			...{ prompt, downloadOutput: false },
			options: { seed: options.seed, fileName: 'b', generationField: 'photo' },
			runOptions: { timeout: 90, onUncertainCharge: 'resubmit' },
		};
		expect(recipe(later)).toBe(recipe(written));
	});

	it.each([
		{ ...written, prompt: '={{ $today }}' },
		{ ...written, options: { seed: 1 } },
		{ prompt: written.prompt },
	])('differs for %j', (parameters) => {
		expect(recipe(parameters)).not.toBe(recipe(written));
	});

	it('differs for another item, such as the arguments of another tool call', () => {
		expect(recipe(written, { a: 2 })).not.toBe(recipe(written));
		const items = [{ json: { a: 1 } }, { json: { a: 2 } }];
		const { step } = contextOf({ items, node: { parameters: written } });
		expect(recipeOf(step, 1).request).toBe(recipe(written, { a: 2 }));
	});
});
