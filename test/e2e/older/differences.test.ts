/** Checks where older releases of n8n behave differently: a step that is set to suspend. */
import { errorOf, itemsOf } from '../../../tools/n8n/executions';
import type { Execution } from '../../../tools/n8n/executions';
import { Stage } from '../support/stage';
import { byHand, imageNode, promptsNamed, trigger } from '../support/workflows';
import type { OwnNode } from '../support/workflows';

describe('Wait for Completion, set to suspend', () => {
	const suspended: OwnNode = {
		name: 'Wait',
		type: 'waitForCompletion',
		parameters: { mode: 'suspend', runOptions: { pollInterval: 1 } },
	};
	const submit: OwnNode = {
		...imageNode(),
		parameters: { ...imageNode().parameters, waitForCompletion: false },
	};
	let stage: Stage;

	beforeAll(async () => {
		// Longer than a step stays awake before it suspends.
		const sandbox = { generationSeconds: 80, timeScale: 1 };
		stage = await Stage.open({ name: 'suspend', sandbox });
	});
	afterAll(async () => await stage?.close());

	it('polls, says why, and returns the files', async () => {
		const prompts = promptsNamed('Awake', 2);
		const execution = await ran(stage, prompts, submit, suspended);
		expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
		const items = itemsOf(execution, 'Wait');
		expect(items.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
		for (const { binary } of items) expect(binary?.data).toMatchObject({ mimeType: 'image/png' });
		const [{ hints = [] }] = execution.data.resultData.runData.Wait;
		expect(hints.map(({ message }) => message)).toContainEqual(
			expect.stringMatching(/^Polled instead of sleeping, because sleeping needs n8n/),
		);
	});

	it('fails if a generation has failed', async () => {
		const execution = await ran(stage, ['Broken [fail: Out of paint]'], submit, suspended);
		expect(execution.status).toBe('error');
		expect(errorOf(execution)).toContain('Out of paint');
	});
});

async function ran(stage: Stage, prompts: string[], ...nodes: OwnNode[]): Promise<Execution> {
	const workflow = await stage.save(byHand('Older', prompts, ...nodes));
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}
