/** Expressions for whole groups of fields. An editor offers none, but some releases of n8n evaluate them. */
import { readForm } from '../../../nodes/shared/form/form';
import { stepOptionsOf } from '../../../nodes/shared/form/step-options';
import { imageFields } from '../../../nodes/ImageGeneration/fields';
import { contextOf } from '../../support/context';

function read(parameters: object) {
	const { step } = contextOf({ parameters: parameters as never });
	return readForm(step, 0, imageFields);
}

const url = 'https://example.com/a.png';

it('may return a single entry, nothing, or fields that the form does not have', () => {
	expect(read({ referenceInputs: { input: { url } }, options: null })).toMatchObject({
		referenceInputs: { input: [{ url }] },
		options: {},
	});
	expect(read({ options: { seed: 0, unknown: 7 } }).options).toEqual({ seed: 0 });
});

it.each<[string, object]>([
	['Prompt', { prompt: undefined }],
	['Options', { options: undefined }],
	['Seed', { options: { seed: undefined } }],
	['Reference Images & Files', { referenceInputs: undefined }],
	['Reference File', { referenceInputs: { input: undefined } }],
	['Reference File 1', { referenceInputs: { input: [undefined] } }],
	['Reference File 2: URL', { referenceInputs: { input: [{ url }, { url: undefined }] } }],
])('names the part that is undefined: %s', (label, parameters) => {
	expect(() => read(parameters)).toThrow(`The expression in ${label} is undefined`);
});

it('advises to return an empty string, but not for a required field', () => {
	const description = expect.stringContaining('return an empty string') as string;
	const advising = expect.objectContaining({ description }) as object;
	expect(() => read({ options: { seed: undefined } })).toThrow(advising as Error);
	expect(() => read({ prompt: undefined })).not.toThrow(advising as Error);
});

it.each<[string, object]>([
	['Options', { options: 'seed' }],
	['Options', { options: [] }],
	['Reference Images & Files', { referenceInputs: 7 }],
	['Reference File 1', { referenceInputs: { input: ['a.png'] } }],
])('must return an object with its fields: %s, %#', (label, parameters) => {
	expect(() => read(parameters)).toThrow(`${label} must be an object with its fields`);
});

it('may give the options of the whole step', async () => {
	const node = { parameters: { runOptions: '={{ $json.options }}' } };
	const { step } = contextOf({ node, parameters: { runOptions: { maxConcurrent: 2 } } });
	expect((await stepOptionsOf(step)).maxConcurrent).toBe(2);
});
