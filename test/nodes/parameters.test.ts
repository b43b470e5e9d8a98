import type { IDataObject, INode } from 'n8n-workflow';

import { InvalidInputError } from '../../client/wire/errors';
import {
	downloadTarget,
	filledIn,
	given,
	modelId,
	optionsOf,
	recipeOf,
	runningOf,
	stepOptions,
} from '../../nodes/shared/parameters';
import { contextOf } from '../support/context';

describe('the options of running', () => {
	it('have the defaults of the contract', () => {
		expect(runningOf({}, 600)).toEqual({
			timeoutMs: 600_000,
			onTimeout: 'error',
			onUncertainCharge: 'error',
		});
		expect(stepOptions({})).toEqual({ maxConcurrent: 10, pollIntervalMs: 3000 });
	});

	it('are read in the forms that expressions give', () => {
		const options = { timeout: '1.5', onTimeout: 'continue', onUncertainCharge: 'resubmit' };
		expect(runningOf(options, 600)).toEqual({
			timeoutMs: 1500,
			onTimeout: 'continue',
			onUncertainCharge: 'resubmit',
		});
		expect(stepOptions({ maxConcurrent: '3', pollInterval: 0.5 })).toEqual({
			maxConcurrent: 3,
			pollIntervalMs: 500,
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
		['Poll Interval', { pollInterval: -3 }],
	])('are refused by name: %s in %j', (name, options) => {
		const read = () => [runningOf(options, 600), stepOptions(options)];
		expect(read).toThrow(InvalidInputError);
		expect(read).toThrow(new RegExp(`^${name} `));
	});

	it('say how many generations there have to be at least', () => {
		expect(() => stepOptions({ maxConcurrent: 0 })).toThrow('not a number of at least 1');
	});

	it('may be missing altogether', () => {
		expect(optionsOf(contextOf().context, 0)).toEqual({});
	});
});

describe('the model', () => {
	it.each(['list', 'id'])('is the id in the locator: mode %s', (mode) => {
		const model = { __rl: true, mode, value: ' aurora-image-1 ' };
		const { context } = contextOf({ parameters: { model } });
		expect(modelId(context, 'model', 0)).toBe('aurora-image-1');
	});

	it.each([{}, { model: '' }, { model: { __rl: true, mode: 'list', value: '' } }])(
		'that is not chosen is refused: %j',
		(parameters) => {
			const { context } = contextOf({ parameters: parameters as IDataObject });
			expect(() => modelId(context, 'model', 0)).toThrow('Model is empty');
		},
	);
});

describe('where the output goes', () => {
	it('is the field "data" and a name made of the generation, by default', () => {
		expect(downloadTarget(contextOf().context, 0, {})).toEqual({
			propertyName: 'data',
			fileName: null,
		});
	});

	it('is as the user says', () => {
		const { context } = contextOf({ parameters: { binaryPropertyName: 'picture' } });
		expect(downloadTarget(context, 0, { fileName: 'lighthouse' })).toEqual({
			propertyName: 'picture',
			fileName: 'lighthouse',
		});
		expect(downloadTarget(context, 0, { fileName: ' ' })?.fileName).toBeNull();
	});

	it('is nowhere where it is not downloaded', () => {
		const { context } = contextOf({ parameters: { downloadOutput: false } });
		expect(downloadTarget(context, 0, {})).toBeNull();
	});

	it('has to be named', () => {
		const { context } = contextOf({ parameters: { binaryPropertyName: ' ' } });
		expect(() => downloadTarget(context, 0, {})).toThrow('Put Output in Field is empty');
	});

	it('may differ from item to item', () => {
		const parameters = [{ binaryPropertyName: 'a' }, { downloadOutput: false }];
		const { context } = contextOf({ parameters });
		expect([0, 1].map((item) => downloadTarget(context, item, {})?.propertyName)).toEqual([
			'a',
			undefined,
		]);
	});
});

describe('an optional parameter', () => {
	it.each([undefined, null, '', '  ', '\n'])('left empty is not given: %j', (value) => {
		expect(given(value)).toBe(false);
	});

	it.each([0, false, '0', 'x', ['x']])('of any value is given: %j', (value) => {
		expect(given(value)).toBe(true);
	});

	it('is sent under its wire name, checked; one left empty is neither', () => {
		const never = () => {
			throw new Error('Checked');
		};
		const filled = filledIn({
			seed: [0, Number],
			negative_prompt: ['', never],
			fps: ['24', Number],
		});
		expect(filled).toEqual({ seed: 0, fps: 24 });
	});
});

describe('what a request is made from', () => {
	const written = { prompt: '={{ $now }}', options: { seed: '={{ Math.random() }}', timeout: 60 } };
	const recipe = (parameters: IDataObject, json: IDataObject = { a: 1 }) =>
		recipeOf(contextOf({ items: [{ json }], node: { parameters } as Partial<INode> }).context, 0);

	it('is what is written, not what it comes to, and the same for other options of running', () => {
		const { prompt, options } = written;
		expect(recipe(written)).toContain('={{ $now }}');
		const later = { prompt, downloadOutput: false, options: { seed: options.seed, timeout: 90 } };
		expect(recipe(later)).toBe(recipe(written));
	});

	it.each([
		{ ...written, prompt: '={{ $today }}' },
		{ ...written, options: { seed: 1 } },
		{ ...written, options: '={{ $json.options }}' },
		{ prompt: written.prompt },
	])('is another for %j', (parameters) => {
		expect(recipe(parameters)).not.toBe(recipe(written));
	});

	it('is another for another item, such as the arguments of another call of a tool', () => {
		expect(recipe(written, { a: 2 })).not.toBe(recipe(written));
	});
});
