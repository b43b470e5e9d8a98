/** Checks what n8n does after a failure, and what the service has charged in the end. */
import type { Workflow } from '../../tools/n8n/rest';
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import { Stage } from './support/stage';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

let stage: Stage;

beforeAll(async () => {
	stage = await Stage.share({ name: 'retry', sandbox: { generationSeconds: 20 } });
});
afterAll(async () => await stage?.close());
beforeEach(() => stage.sandbox.reset());

async function ran(workflow: Workflow): Promise<Execution> {
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

/** Counts the generations that are charged and not refunded, for each prompt. */
function charges(prompts: string[]): number[] {
	return prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
}

function idsIn(execution: Execution): unknown[] {
	return itemsOf(execution, 'Images').map(({ json }) => json.id);
}

/** Makes the service fail one generation after charging it: the step fails while others are running. */
function failOnce(prompt: string): void {
	const action = { kind: 'fail', reason: 'Out of paint' } as const;
	stage.sandbox.faults.order({ on: 'create', match: { promptIncludes: prompt }, action });
}

it('charges each item once when Retry On Fail runs the step again', async () => {
	const prompts = promptsNamed('Again', 6);
	failOnce(prompts[3]);
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 };
	const workflow = await stage.save(byHand('Retry On Fail', prompts, imageNode({}, settings)));
	const execution = await ran(workflow);

	expect([execution.status, errorOf(execution)]).toEqual(['success', '']);
	expect(itemsOf(execution, 'Images')).toHaveLength(6);
	expect(charges(prompts)).toEqual([1, 1, 1, 1, 1, 1]);
	const { created, failed } = stage.sandbox.books.totals;
	expect({ created, failed }).toEqual({ created: 7, failed: 1 });
	// Every item has the generation for its prompt.
	const made = idsIn(execution).map((id) => stage.sandbox.books.find(String(id))?.prompt);
	expect(made).toEqual(prompts);
});

it('charges each item once when the user retries the execution', async () => {
	const prompts = promptsNamed('Retried', 5);
	failOnce(prompts[1]);
	const workflow = await stage.save(byHand('Retry execution', prompts, imageNode()));
	const first = await ran(workflow);
	expect(first.status).toBe('error');
	expect(errorOf(first)).toContain('Out of paint');
	const paid = stage.sandbox.books.generations.filter(({ refunded }) => refunded === 0);
	for (const { id } of paid) expect(errorOf(first)).toContain(id);

	const second = await stage.executions.ended(await stage.executions.retry(first.id));
	expect([second.status, second.mode, second.retryOf]).toEqual(['success', 'retry', first.id]);
	expect(charges(prompts)).toEqual([1, 1, 1, 1, 1]);
	for (const { id } of paid) expect(idsIn(second)).toContain(id);
});

it('does not automatically pay again for an item whose response was lost', async () => {
	const prompts = promptsNamed('Lost', 3);
	const match = { promptIncludes: prompts[0] };
	stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'loseAnswer' } });
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1000 };
	const workflow = await stage.save(byHand('Lost answer', prompts, imageNode({}, settings)));
	const first = await ran(workflow);
	expect(first.status).toBe('error');
	expect(errorOf(first)).toContain('may have been charged');

	const second = await stage.executions.ended(await stage.executions.retry(first.id));
	expect(second.status).toBe('error');
	expect(charges(prompts).every((count) => count <= 1)).toBe(true);
	expect(charges(prompts)[0]).toBe(1);
});
