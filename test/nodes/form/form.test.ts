import type { INodeProperties } from 'n8n-workflow';

import { readForm } from '../../../nodes/shared/form/form';
import { InvalidInputError } from '../../../nodes/shared/form/checks';
import { contextOf } from '../../support/context';

const field = (displayName: string, more: Partial<INodeProperties> = {}): INodeProperties => ({
	displayName,
	name: displayName.toLowerCase(),
	type: 'string',
	default: '',
	...more,
});

const FIELDS: INodeProperties[] = [
	field('Model', { type: 'resourceLocator', default: { mode: 'list', value: '' } }),
	field('Prompt', { required: true }),
	field('Wait', { type: 'boolean', default: true }),
	field('Notice', { type: 'notice' }),
	field('Inputs', {
		type: 'fixedCollection',
		default: {},
		options: [
			{
				name: 'input',
				displayName: 'Input',
				values: [field('Url'), field('File', { typeOptions: { binaryDataProperty: true } })],
			},
		],
	}),
	field('Options', { type: 'collection', default: {}, options: [field('Seed'), field('Name')] }),
];

function read(parameters: object) {
	const { step } = contextOf({ parameters: parameters as never });
	return readForm(step, 0, FIELDS);
}

const UNTOUCHED = { model: null, prompt: null, wait: true, inputs: { input: [] }, options: {} };

describe('a form', () => {
	it('that is unchanged has its defaults, and null for empty ones', () => {
		expect(read({})).toEqual(UNTOUCHED);
	});

	it('has what was chosen, and only the options that were added', () => {
		const file = { mimeType: 'image/png', data: 'iVBO' };
		const chosen = {
			model: { __rl: true, mode: 'id', value: 'aurora' },
			prompt: ' A boat ',
			wait: false,
			inputs: { input: [{ url: 'a' }, { file }] },
			options: { seed: 0, unknown: 7 },
		};
		expect(read(chosen)).toEqual({
			model: 'aurora',
			prompt: ' A boat ',
			wait: false,
			inputs: { input: [{ url: 'a' }, { file }] },
			options: { seed: 0 },
		});
	});

	it('is read from expressions for whole collections, and for the picker', () => {
		expect(read({ model: 'aurora', inputs: { input: { url: 'a' } }, options: null })).toEqual({
			...UNTOUCHED,
			model: 'aurora',
			inputs: { input: [{ url: 'a' }] },
		});
	});

	it.each([null, '', '  ', '\n'])('has null for empty values: %j', (empty) => {
		const model = { mode: 'list', value: empty };
		expect(read({ model, prompt: empty, options: { seed: empty } })).toEqual({
			...UNTOUCHED,
			options: { seed: null },
		});
	});

	it.each([
		[
			['a', 7, null],
			['a', 7, null],
		],
		[new Date(0), '1970-01-01T00:00:00.000Z'],
		['text with [brackets]', 'text with [brackets]'],
		[false, false],
	])('converts lists, dates and switches to plain values: %j', (value, written) => {
		expect(read({ prompt: value }).prompt).toEqual(written);
	});

	it.each<[string, object]>([
		['Prompt', { prompt: undefined }],
		['Model', { model: undefined }],
		['Model', { model: { mode: 'id', value: undefined } }],
		['Wait', { wait: undefined }],
		['Options', { options: undefined }],
		['Seed', { options: { seed: undefined } }],
		['Inputs', { inputs: undefined }],
		['Input', { inputs: { input: undefined } }],
		['Input 1', { inputs: { input: [undefined] } }],
		['Input 2: Url', { inputs: { input: [{ url: 'a' }, { url: undefined }] } }],
		['Input 1: File', { inputs: { input: [{ file: undefined }] } }],
		['Prompt', { prompt: ['a', undefined] }],
	])('names the field whose expression is undefined: %s, %#', (label, parameters) => {
		expect(() => read(parameters)).toThrow(InvalidInputError);
		expect(() => read(parameters)).toThrow(`The expression in ${label} is undefined`);
	});

	it.each([
		['only checks the names for a required field', { prompt: undefined }, false],
		['may return an empty string for an optional field', { options: { seed: undefined } }, true],
	])('advises what to do about an undefined expression: it %s', (_, parameters, optional) => {
		const description = expect.stringContaining('return an empty string') as string;
		expect(() => read(parameters)).toThrow(
			expect.objectContaining({
				description: optional ? description : expect.not.stringContaining('empty'),
			}),
		);
	});

	it('names the field that n8n could not evaluate, and why', () => {
		const { step } = contextOf();
		step.parameter = (name: string) => {
			if (name !== 'prompt') return null;
			throw new Error('Referenced node is unexecuted.');
		};
		const read = () => readForm(step, 0, FIELDS);
		expect(read).toThrow(InvalidInputError);
		expect(read).toThrow(
			expect.objectContaining({
				message: 'Prompt could not be evaluated: Referenced node is unexecuted',
				description: 'Check the expression in Prompt.',
			}),
		);
	});

	it.each<[string, object]>([
		['Prompt', { prompt: { text: 'A boat' } }],
		['Prompt', { prompt: 'A picture of [object Object]' }],
		['Prompt', { prompt: [{ a: 1 }] }],
		['Prompt', { prompt: Object.assign(Object.create(null), { toString: 1 }) }],
		['Model', { model: { id: 'aurora' } }],
		['Wait', { wait: {} }],
		['Seed', { options: { seed: { value: 7 } } }],
		['Input 1: Url', { inputs: { input: [{ url: { href: 'a' } }] } }],
		['Input 1: File', { inputs: { input: [{ file: { name: 'a' } }] } }],
	])('names the field whose expression returned an object: %s, %#', (label, parameters) => {
		expect(() => read(parameters)).toThrow(
			`${label} must be a single value, such as text, but the expression returned`,
		);
	});

	it('says how a file gets into a field for a URL', () => {
		const inputs = { input: [{ url: { mimeType: 'image/png', data: 'iVBO' } }] };
		expect(() => read({ inputs })).toThrow(
			expect.objectContaining({
				message:
					'Input 1: Url must be a single value, such as text, but the expression returned a file',
				description: expect.stringMatching(/upload the file first.*enter its URL/) as string,
			}),
		);
	});

	it.each<[string, object]>([
		['Options', { options: 'seed' }],
		['Options', { options: [] }],
		['Inputs', { inputs: 7 }],
		['Input 1', { inputs: { input: ['a.png'] } }],
	])('rejects a value that is not a group of fields, by name: %s, %#', (label, parameters) => {
		expect(() => read(parameters)).toThrow(`${label} must be an object with its fields`);
	});
});
