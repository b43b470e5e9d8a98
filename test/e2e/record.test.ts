/** Checks the journal of idempotency keys in n8n's data tables after a Stop and a timeout. */
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow, WorkflowFile } from '../../tools/n8n/rest';
import { DataTable } from './support/data-table';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

const keyed = imageNode({ idempotencyKey: '={{ $json.prompt }}' });

async function run(stage: Stage, file: WorkflowFile | Workflow): Promise<Execution> {
	const workflow = 'id' in file ? (file as Workflow) : await stage.save(file);
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

describe('with data tables', () => {
	let stage: Stage;
	beforeAll(async () => {
		// In the shared n8n, no workflow may be called by another by default. The helper workflows that keep the journal work.
		stage = await Stage.share({ name: 'record', sandbox: { timeScale: 10 } });
	});
	afterAll(async () => await stage?.close());

	const charges = (prompts: string[]) =>
		prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));
	const finish = (prompts: string[]) =>
		stage.sandbox.books.generations
			.filter(({ prompt, state }) => prompts.includes(prompt) && state !== 'completed')
			.forEach(({ id }) => stage.sandbox.service.finish(id));

	async function takesUp(workflow: Workflow, prompts: string[]): Promise<void> {
		expect(charges(prompts)).toEqual(prompts.map(() => 1));
		finish(prompts);
		const again = await run(stage, workflow);
		expect([again.status, errorOf(again)]).toEqual(['success', '']);
		expect(itemsOf(again, 'Images')).toHaveLength(prompts.length);
		expect(charges(prompts)).toEqual(prompts.map(() => 1));
	}

	it('the next execution reuses what was charged before a Stop', async () => {
		const prompts = promptsNamed('[seconds: 3000] Stopped', 4);
		const workflow = await stage.save(byHand('Stopped', prompts, keyed));
		const id = await stage.executions.run(workflow, trigger);
		await until('all are under way', () => charges(prompts).every((count) => count === 1));
		await stage.executions.stop(id);
		await stage.executions.ended(id);
		await takesUp(workflow, prompts);
	});

	it('the next execution reuses what was charged before the timeout of the workflow', async () => {
		const prompts = promptsNamed('[seconds: 3000] Timed out', 4);
		const file = byHand('Timed out', prompts, keyed);
		const workflow = await stage.save({
			...file,
			settings: { ...file.settings, executionTimeout: 40 },
		});
		const ended = await run(stage, workflow);
		expect(ended.status).toBe('canceled');
		// A slow machine must have time for the second one.
		const { id, nodes, versionId } = workflow;
		const lasting = { nodes, versionId, settings: { ...file.settings, executionTimeout: -1 } };
		await takesUp(await stage.rest.send('PATCH', `/workflows/${id}`, lasting), prompts);
	});

	it('a generation without a key that was charged before the timeout of the workflow has a row', async () => {
		const prompts = promptsNamed('[seconds: 3000] No key', 3);
		const file = byHand('No key', prompts, imageNode());
		const settings = { ...file.settings, executionTimeout: 40 };
		expect((await run(stage, { ...file, settings })).status).toBe('canceled');
		const table = await DataTable.of(stage.rest);
		const written = async () =>
			(await table.rows()).filter(({ prompt }) => prompts.includes(String(prompt)));
		await until('the rows are there', async () => (await written()).length >= 3);
		const made = stage.sandbox.books.generations.filter(({ prompt }) => prompts.includes(prompt));
		const rows = await written();
		expect(rows.map(({ generation_id: paid }) => paid).sort()).toEqual(
			made.map((one) => one.id).sort(),
		);
		expect(rows.map(({ key }) => key)).toEqual([null, null, null]);
	});

	it('its helper workflows appear in no list of executions, and do not contain the API key', async () => {
		const prompts = promptsNamed('Listed', 2);
		const workflow = await stage.save(byHand('Listed', prompts, keyed));
		const execution = await run(stage, workflow);
		expect(execution.status).toBe('success');
		expect(await stage.executions.idsOf(workflow.id)).toEqual([execution.id]);
	});
});
