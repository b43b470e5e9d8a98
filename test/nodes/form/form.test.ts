import { entriesOf, readForm } from '../../../nodes/shared/form/form';
import { stepOptionsOf } from '../../../nodes/shared/form/step-options';
import { imageFields } from '../../../nodes/ImageGeneration/fields';
import { contextOf } from '../../support/context';

const entries = entriesOf(imageFields);

function read(parameters: object) {
	const { step } = contextOf({ parameters: parameters as never });
	return readForm(step, 0, entries);
}

const url = 'https://example.com/a.png';
/** What n8n returns for an expression whose path is mistyped. */
const mistyped = '={{ undefined }}';

it('has null for fields that are empty, and none that it does not have', () => {
	expect(read({ options: { seed: 0, unknown: 7, size: ' ' } })).toMatchObject({
		seed: 0,
		size: null,
	});
	expect(read({ options: { unknown: 7 } })).not.toHaveProperty('unknown');
});

it.each<[string, object]>([
	['Prompt', { prompt: mistyped }],
	['Seed', { options: { seed: mistyped } }],
	['Reference File 2: URL', { referenceInputs: { input: [{ url }, { url: mistyped }] } }],
])('names the part that is undefined: %s', (label, parameters) => {
	expect(() => read(parameters)).toThrow(`The expression in ${label} is undefined`);
});

it('advises to return an empty string, but not for a required field', () => {
	const description = expect.stringContaining('return an empty string') as string;
	const advising = expect.objectContaining({ description }) as object;
	expect(() => read({ options: { seed: mistyped } })).toThrow(advising as Error);
	expect(() => read({ prompt: mistyped })).not.toThrow(advising as Error);
});

it.each(['options', 'runOptions', 'referenceInputs'])(
	'refuses an expression for all fields in %s: the editor offers none',
	(name) => {
		const message = `The parameter ${name} must be an object with its fields`;
		expect(() => read({ [name]: '={{ $json.all }}' })).toThrow(message);
	},
);

it('refuses an expression for a whole list', () => {
	const message = 'The parameter referenceInputs must be an object with its fields';
	expect(() => read({ referenceInputs: { input: '={{ $json.all }}' } })).toThrow(message);
});

it('takes the settings of a step from the first item with valid ones', () => {
	const parameters = [{ maxConcurrent: 'many' }, { maxConcurrent: 2, minimumBalance: 7 }];
	const { step } = contextOf({
		items: [{ json: {} }, { json: {} }],
		parameters: parameters.map((runOptions) => ({ runOptions })),
	});
	expect(stepOptionsOf(step)).toMatchObject({ maxConcurrent: 2, minimumBalance: 7 });
});
