import { withAdditionalFields } from '../../../nodes/shared/form/additional-fields';
import { InvalidInputError } from '../../../nodes/shared/form/checks';

const body = { model: 'aurora', prompt: 'A boat', parameters: { seed: 7 } };
const add = (value: unknown) => withAdditionalFields(body, value);

describe('additional body fields', () => {
	it('are added to the body, nested objects too', () => {
		expect(add('{"style": "ink", "parameters": {"steps": 20}}')).toEqual({
			...body,
			style: 'ink',
			parameters: { seed: 7, steps: 20 },
		});
		expect(body.parameters).toEqual({ seed: 7 });
	});

	it('can be an object returned by an expression, including lists and dates', () => {
		expect(add({ tags: ['a', { b: null }], from: new Date(0) })).toEqual({
			...body,
			tags: ['a', { b: null }],
			from: '1970-01-01T00:00:00.000Z',
		});
	});

	it.each(['{}', {}])('add nothing if they are empty: %j', (empty) => {
		expect(add(empty)).toEqual(body);
	});

	it.each<[unknown, string]>([
		['{"model": "other"}', 'cannot set "model"'],
		['{"prompt": ""}', 'cannot set "prompt"'],
		['{"inputs": []}', 'cannot set "inputs"'],
		['{"n": 3}', 'cannot set "n"'],
		[{ n: 1 }, 'cannot set "n"'],
		['{"parameters": {"seed": 8}}', 'sets "parameters.seed", which another field'],
		['{"parameters": 1}', 'sets "parameters", which another field'],
		['{"parameters": []}', 'sets "parameters", which another field'],
		['{"style": }', 'is not a JSON object'],
		['[1]', 'is not a JSON object'],
		['"text"', 'is not a JSON object'],
		['null', 'is not a JSON object'],
		[[1], 'is not a JSON object'],
		[5, 'is not a JSON object'],
		[{ style: undefined }, ': style is undefined'],
		[{ a: [{ b: undefined }] }, ': a.0.b is undefined'],
		[{ style: 'like [object Object]' }, 'text that contains [object Object]'],
	])('are refused by name: %j', (value, says) => {
		expect(() => add(value)).toThrow(InvalidInputError);
		expect(() => add(value)).toThrow(`Additional Body Fields`);
		expect(() => add(value)).toThrow(says);
	});

	it('cannot reach the prototype of the body', () => {
		const sent = add('{"__proto__": {"polluted": true}}');
		expect(JSON.stringify(sent)).toContain('__proto__');
		expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
	});
});
