import { readGeneration } from '../../client/api/generation';
import { wireGeneration } from '../support/answers';
import { refused } from '../support/fake-service';
import { batch, errorIn, inShort, Step } from '../support/step';

const CODES = [
	'content_policy_violation',
	'content_filtered',
	'moderation_blocked',
	'safety',
	'new_sensitive',
	'nsfw_content_detected',
	'OutputImageSensitiveContentDetected',
	'content_moderation_failed',
];

describe('a failure that says that the content was refused', () => {
	it.each<[string, unknown]>([
		...CODES.flatMap(
			(code): Array<[string, unknown]> => [
				[`code ${code}`, { code, message: 'No.' }],
				[`type ${code}`, { code: 400, type: code }],
				[`text ${code}`, code],
			],
		),
		['words', { code: 'Content Moderation Failed' }],
		['other cases', { code: 'CONTENT_POLICY_VIOLATION' }],
		['other spellings', { code: 'contentFiltered' }],
		['a text that begins with it', 'content_policy_violation: the prompt names a person'],
		['a message that contains it', { code: 'failed', message: 'Provider: moderation_blocked' }],
		['an inner error', { code: 'failed', inner_error: { code: 'Safety' } }],
		['a list of details', { message: 'no', details: [{ reason: 'SAFETY' }] }],
		['a nested error', { error: { error: { type: 'content-filtered' } } }],
	])('is recognized: %s', (_, error) => {
		const generation = readGeneration(wireGeneration({ status: 'failed', error }), 0);
		expect(generation?.isContentRefusal).toBe(true);
	});

	it.each<[string, unknown]>([
		['nothing', undefined],
		['another code', { code: 'out_of_memory', message: 'Check the safety of the prompt' }],
		['the name of a parameter', { code: 'invalid_parameter', param: 'safety' }],
		['a text with such a word', { message: 'Field names are case-sensitive and safety-critical' }],
		['an address', { message: 'no', doc_url: 'https://example.com/moderation' }],
		['a text about it', 'The safety margin of the provider is used up'],
	])('is not taken for one: %s', (_, error) => {
		const generation = readGeneration(wireGeneration({ status: 'failed', error }), 0);
		expect(generation?.isContentRefusal).toBe(false);
	});

	/** Creates a step whose first model refuses the content. */
	function refusing(models: number): Step {
		const step = new Step({ stopOnError: false });
		step.fake.failure = () => 'no';
		step.fake.end = () =>
			step.fake.made.length <= models
				? { status: 'failed', error: { code: 'safety', message: 'The prompt was refused' } }
				: { status: 'completed' };
		return step;
	}

	it('is not created again with the same model', async () => {
		const step = refusing(9);
		const { outcomes } = await step.run(batch(1, { retriesOnFailure: 5 }));
		expect(step.fake.creating).toHaveLength(1);
		const error = errorIn(outcomes[0]);
		expect(error).toMatchObject({
			code: 'content_refused',
			message: 'The service refused the content: The prompt was refused',
			charge: 'refunded',
			generation: { url: null },
		});
		expect(error.description).toMatch(/Change the prompt/);
	});

	it('goes on with the next fallback model, each once', async () => {
		const step = refusing(2);
		const fallbackModels = ['second', 'third'];
		const { outcomes } = await step.run(batch(1, { retriesOnFailure: 5, fallbackModels }));
		const models = step.fake.creating.map(({ body }) => (body as { model: string }).model);
		expect(models).toEqual(['aurora-image-1', 'second', 'third']);
		expect(outcomes.map(inShort)).toEqual(['completed generation-3']);
	});

	it.each(CODES)(
		'goes on with a fallback model if the request is refused with %s',
		async (code) => {
			const step = new Step({ stopOnError: false });
			step.fake.order('p0', refused(400, code));
			const { outcomes } = await step.run(batch(1, { fallbackModels: ['second'] }));
			expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
			expect(step.fake.creating).toHaveLength(2);
		},
	);
});
