/**
 * Checks rows of `media_generations` in n8n's own table after a CSV export and import, and after a workflow timeout.
 */
import { errorOf, itemsOf } from '../../tools/n8n/executions';
import type { Execution } from '../../tools/n8n/executions';
import type { Workflow } from '../../tools/n8n/rest';
import { DataTable, type Row } from './support/data-table';
import { Stage } from './support/stage';
import { until } from './support/until';
import { byHand, imageNode, promptsNamed, trigger } from './support/workflows';

let stage: Stage;
let table: DataTable;
beforeAll(async () => {
	stage = await Stage.share({ name: 'record-rows', sandbox: { timeScale: 10 } });
	table = await DataTable.of(stage.rest);
});
afterAll(async () => await stage?.close());

const charges = (prompts: string[]) =>
	prompts.map((prompt) => stage.sandbox.books.liveChargesFor(prompt));

async function run(workflow: Workflow): Promise<Execution> {
	return await stage.executions.ended(await stage.executions.run(workflow, trigger));
}

async function save(name: string, prompts: string[], options = {}, settings = {}) {
	const step = imageNode({ idempotencyKey: '={{ $json.prompt }}', ...options });
	const file = byHand(name, prompts, step);
	return await stage.save({ ...file, settings: { ...file.settings, ...settings } });
}

it('rows that went through n8n’s CSV export and import are reused, including uncertain ones', async () => {
	const [made, lost] = promptsNamed('Carried over', 2);
	const match = { promptIncludes: lost };
	stage.sandbox.faults.order({ on: 'create', match, action: { kind: 'loseAnswer' } });
	const workflow = await save('Carried', [made, lost], { onUncertainCharge: 'error' });
	await run(workflow);
	const csv = await table.exportCsv();
	expect(csv).toContain(made);
	await table.delete();
	// As in another project, the next step creates a new table.
	await run(await save('Another', promptsNamed('Another', 1)));
	await table.importCsv(csv);

	const uncertain = await run(workflow);
	expect([uncertain.status, errorOf(uncertain)]).toEqual([
		'error',
		expect.stringContaining('may have been charged'),
	]);
	const resubmitted = await run(await resubmitting(workflow));
	expect([resubmitted.status, errorOf(resubmitted)]).toEqual(['success', '']);
	expect(itemsOf(resubmitted, 'Images')).toHaveLength(2);
	// The second one was lost, and sent again because the user chose to.
	expect(charges([made, lost])).toEqual([1, 2]);
	const rows = (await table.rows()).filter(({ key }) => [made, lost].includes(key));
	expect(rows).toHaveLength(2);
});

it('a timeout while hundreds of keys are reserved leaves no key with two rows', async () => {
	const prompts = promptsNamed('[seconds: 3000] Claimed', 2000);
	const workflow = await save('Claiming', prompts, {}, { executionTimeout: 2 });
	const ended = await run(workflow);
	expect(ended.status).toBe('canceled');
	await settled();
	const keys = (await table.rows()).map(({ key }) => key).filter((key) => prompts.includes(key));
	expect(keys.length).toBe(new Set(keys).size);
	expect(charges(prompts).every((count) => count <= 1)).toBe(true);
});

it('five requests in flight at the timeout have one row each', async () => {
	const prompts = promptsNamed('[seconds: 3000] In flight', 5);
	const match = { promptIncludes: 'In flight' };
	stage.sandbox.faults.order({
		on: 'create',
		match,
		times: 5,
		action: { kind: 'delay', ms: 12_000 },
	});
	const workflow = await save('Flying', prompts, {}, { executionTimeout: 12 });
	const ended = await run(workflow);
	expect(ended.status).toBe('canceled');
	const rowsOf = async () => (await table.rows()).filter(({ key }) => prompts.includes(key));
	// The responses arrive after the timeout. One that arrives more than five seconds later leaves its row unresolved.
	const isSettled = (row: Row) => row.generation_id !== null || row.status === 'uncertain';
	await until('the rows are settled', async () => (await rowsOf()).every(isSettled));
	await settled();
	expect(charges(prompts)).toEqual(prompts.map(() => 1));
	const rows = await rowsOf();
	expect(rows.map(({ key }) => key).sort()).toEqual([...prompts].sort());
	for (const { key, generation_id: id, status } of rows) {
		const made = stage.sandbox.books.generations.find(({ prompt }) => prompt === key);
		expect([id, status]).toEqual(id === null ? [null, 'uncertain'] : [made?.id, 'pending']);
	}
	// An uncertain row would show the request.
	expect(rows.every(({ prompt, request }) => prompt !== null && request !== null)).toBe(true);
});

/** Saves the same workflow with another choice of If the Response Is Lost, and returns it. */
async function resubmitting(workflow: Workflow): Promise<Workflow> {
	const { nodes, id, versionId } = JSON.parse(
		JSON.stringify(workflow).replace(
			'"onUncertainCharge":"error"',
			'"onUncertainCharge":"resubmit"',
		),
	) as Workflow;
	return await stage.rest.send('PATCH', `/workflows/${id}`, { nodes, versionId });
}

/** Waits until the rows have not changed for some seconds: the step does not wait for its last calls to n8n. */
async function settled(): Promise<void> {
	let before = '';
	await until('the rows stand still', async () => {
		const now = JSON.stringify(await table.rows());
		await new Promise((resolve) => setTimeout(resolve, 2_500));
		const same = now === before;
		before = now;
		return same;
	});
}
