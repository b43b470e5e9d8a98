import { takeInlineFile } from '../../client/api/generation';
import { answer, wireGeneration } from '../support/answers';
import { creating, inShort, Step, waitingFor } from '../support/step';

const PNG = 'iVBORw0KGgo=';

/** A service that returns the file in its last status response, and has no output URL then. */
function inlineService(): Step {
	const step = new Step();
	step.fake.storage = () => ({ status: 404, oneByte: false });
	step.fake.end = () => ({ status: 'completed', url: null, b64_json: PNG });
	step.finish = async (_, generation) => {
		return { generation, output: takeInlineFile(generation)?.toString('base64') ?? 'no file' };
	};
	return step;
}

describe('a generation that is completed with its file in the response', () => {
	it.each(['auto', 'status', 'outputUrl'] as const)(
		'is ready with readiness %s',
		async (readiness) => {
			const step = inlineService();
			const { outcomes } = await step.run([creating('p0', 0, { readiness })]);
			expect(outcomes).toMatchObject([{ kind: 'done', output: PNG, generation: { url: null } }]);
		},
	);

	it('is ready in Wait for Completion, and in a single check', async () => {
		const step = inlineService();
		await step.run([creating('p0', 0, { wait: false })]);
		for (const wait of [true, false]) {
			await step.time.run(step.time.sleep(20_000));
			const { outcomes } = await step.runAgain([waitingFor('generation-1', 0, { wait })]);
			expect(outcomes).toMatchObject([{ kind: 'done', output: PNG }]);
		}
	});

	it('is ready if the creating response has it already', async () => {
		const step = inlineService();
		step.fake.order('p0', (make) => {
			make();
			return answer(wireGeneration({ status: 'completed', url: null, b64_json: PNG }));
		});
		const { outcomes } = await step.run([creating('p0')]);
		expect(outcomes.map(inShort)).toEqual(['completed generation-1']);
		expect(outcomes).toMatchObject([{ output: PNG }]);
	});
});
