import { byId, openStage, prompts } from './stage';

const stage = openStage();
const capable = { model: byId('aurora-image-1') };

describe('Additional Body Fields', () => {
	it('reach the service beside what the form sets', async () => {
		const options = {
			seed: 7,
			additionalFields: '={"style": "{{ $json.style }}", "parameters": {"steps": 20}}',
		};
		await stage.run(
			'imageGeneration',
			{ ...capable, options, waitForCompletion: false },
			{ items: [{ prompt: 'A boat', style: 'ink' }] },
		);
		expect(stage.bodies[0]).toMatchObject({ style: 'ink', parameters: { seed: 7, steps: 20 } });
	});

	it.each<[string, unknown]>([
		['{"parameters": "fast"}', 'fast'],
		['{"parameters": ["fast", "small"]}', ['fast', 'small']],
		['{"parameters": null}', null],
	])('are sent unchanged if they are not an object: %s', async (additionalFields, parameters) => {
		const options = { additionalFields };
		await stage.run(
			'videoGeneration',
			{ options, numberOfOutputs: 2, waitForCompletion: false },
			{ items: prompts('Waves') },
		);
		expect(stage.bodies.map((body) => body.parameters)).toEqual([parameters, parameters]);
	});

	it.each<[string, string]>([
		['{"model": "x"}', ' cannot set "model"'],
		['{"prompt": ""}', ' cannot set "prompt"'],
		['{"inputs": []}', ' cannot set "inputs"'],
		['{"n": 3}', ' cannot set "n"'],
		['={{ ({ n: 1 }) }}', ' cannot set "n"'],
		['{"size": "64x64"}', ' sets "size", which another field of the form sets too'],
		[
			'{"parameters": {"seed": 8}}',
			' sets "parameters.seed", which another field of the form sets too',
		],
		['{"parameters": 1}', ' sets "parameters", which another field of the form sets too'],
		['{"parameters": []}', ' sets "parameters", which another field of the form sets too'],
		['{"style": }', ' is not a JSON object'],
		['[1]', ' is not a JSON object'],
		['"text"', ' is not a JSON object'],
		['={{ [1] }}', ' is not a JSON object'],
		['={{ 5 }}', ' is not a JSON object'],
		['={{ ({ style: undefined }) }}', ': style is undefined for this item'],
		['={{ ({ a: [{ b: undefined }] }) }}', ': b is undefined for this item'],
		[
			'={{ ({ style: "like [object Object]" }) }}',
			' must be a single value, such as text, but the expression returned text that contains [object Object]',
		],
	])(
		'that would replace the form, or are no JSON object, are an error of the item: %s, %s',
		async (additionalFields, says) => {
			const options = { size: '64x64', seed: 7, additionalFields };
			const run = await stage.run('imageGeneration', { options }, { items: prompts('A boat') });
			expect(run.error).toMatchObject({
				message: expect.stringMatching(/^(The expression in )?Additional Body Fields/) as string,
				context: { code: 'invalid_input', itemIndex: 0 },
			});
			expect(run.error?.message.endsWith(says)).toBe(true);
			expect(stage.arrived).toBe(0);
		},
	);

	it.each([
		[
			'={{ ({ tags: ["a", { b: null }], from: new Date(0) }) }}',
			{ tags: ['a', { b: null }], from: '1970-01-01T00:00:00.000Z' },
		],
		['{}', {}],
		['={{ ({}) }}', {}],
		['{"__proto__": {"polluted": true}}', {}],
	])('are sent beside the form: %s', async (additionalFields, more) => {
		const parameters = { options: { additionalFields }, waitForCompletion: false };
		await stage.run('imageGeneration', parameters, { items: prompts('A boat') });
		const body = { model: 'lumen-turbo', prompt: 'A boat', size: '64x64' };
		expect({ ...stage.bodies[0] }).toEqual({ ...body, ...more });
		expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
	});
});
