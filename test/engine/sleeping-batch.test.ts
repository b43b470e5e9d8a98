import type { Run } from '../../tools/engine';
import { helperOf, kill, nextOf, sleepToEnd, wake, wavesOf } from './asleep';
import { asleep, boats, continues, items, openKeyedStage, workflowWith } from './keyed';

/** What a batch that sleeps promises, once each. The files named `sleeping-batch.*` go further. */

const { stage, created, execute, rows } = openKeyedStage();

const codes = (run: Run) => run.output('Step').map(({ json }) => json.error_code ?? json.status);

/** Runs the next wave, and kills its execution when that sleeps again. */
async function killAfterWave(run: Run): Promise<Run> {
	stage.leap(600);
	await stage.engine.resume(wavesOf(stage, run));
	kill(wavesOf(stage, run));
	return await stage.engine.resume(run);
}

it('a batch continues by itself after its waves were killed, and pays nothing again', async () => {
	const settings = { redactionPolicy: 'all', timezone: 'Asia/Tokyo' } as const;
	const workflow = { ...workflowWith(asleep()), settings };
	const first = await stage.runWorkflow(workflow, { items: boats(5) });
	for (const find of [helperOf, wavesOf]) {
		expect(find(stage, first).record.workflow.settings).toMatchObject(settings);
	}
	const next = await killAfterWave(first);
	expect([next.status, created()]).toEqual(['waiting', 4]);
	const end = await sleepToEnd(stage, next);
	expect(codes(end)).toEqual(boats(5).map(() => 'completed'));
	expect(stage.sandbox.books.totals).toMatchObject({ created: 5, charged: 5 });
});

it('what a killed wave has spent counts for Spend at Most', async () => {
	const first = await execute(boats(8), asleep({ maxCredits: 4 }), continues);
	const stored = structuredClone(wavesOf(stage, first).record.state.data.executionData);
	stage.leap(600);
	await stage.engine.resume(wavesOf(stage, first));
	expect(created()).toBe(4);
	// n8n has the state from before the wave.
	const { record } = wavesOf(stage, first);
	record.state.data.executionData = stored;
	kill(wavesOf(stage, first));
	const end = await sleepToEnd(stage, await stage.engine.resume(first));
	expect(created()).toBe(4);
	expect(codes(end).filter((code) => code === 'credit_limit_reached')).toHaveLength(4);
});

it('a batch with an item that has no key sends nothing', async () => {
	const run = await execute(items(['a', 'a boat'], [null, 'a ship']), asleep());
	expect(run.error).toMatchObject({ context: { itemIndex: 1, code: 'invalid_input' } });
	expect(stage.arrived).toBe(0);
});

it('a batch that the user has stopped sends nothing more', async () => {
	const first = await execute(boats(4), asleep());
	const { data } = first.record.state;
	data.resultData.error = new Error('The execution was cancelled manually') as never;
	stage.sandbox.requests.clear();
	stage.leap(600);
	// The execution itself has ended, but its helper does not know that yet.
	await stage.engine.resume(helperOf(stage, first));
	expect(stage.arrived).toBe(0);
});

it('an item that was refused in the wave before the kill is not sent again, and keeps its error', async () => {
	const list = [
		...boats(2),
		...items(['x', 'a raft [reject: invalid_parameter]']),
		...boats(4).slice(3),
	];
	const next = await killAfterWave(await execute(list, asleep(), continues));
	const end = await sleepToEnd(stage, next);
	expect(codes(end)).toEqual(['completed', 'completed', 'invalid_parameter', 'completed']);
	expect(stage.sandbox.requests.on('create')).toHaveLength(list.length);
});

it('a generation whose row was deleted while the batch slept was never there, as after any deletion', async () => {
	const first = await execute(boats(2), asleep());
	rows().length = 0;
	const next = await killAfterWave(first);
	const end = await sleepToEnd(stage, next);
	expect([codes(end), created()]).toEqual([['completed', 'completed'], 4]);
});

it('fetching the results creates nothing, even if a row was deleted after the last wave', async () => {
	let run = await execute(boats(2), asleep(), continues);
	while (nextOf(stage, run).record.workflow.name !== 'Step: results') run = await wake(stage, run);
	rows().length = 1;
	const end = await sleepToEnd(stage, run);
	expect([codes(end), created()]).toEqual([['completed', 'batch_interrupted'], 2]);
});

it('waves that only seemed dead send nothing when they wake: the guard has started others', async () => {
	const first = await execute(boats(4), asleep());
	const { record } = wavesOf(stage, first);
	const { status, data } = record.state;
	kill(wavesOf(stage, first));
	const next = await stage.engine.resume(first);
	expect(next.status).toBe('waiting');
	stage.leap(600);
	stage.sandbox.requests.clear();
	// n8n restores what sleeps a moment after it has marked it as crashed.
	delete data.resultData.error;
	Object.assign(record.state, { status });
	await stage.engine.resume(stage.engine.execution(record.id) as Run);
	const { requests } = stage.sandbox;
	// A probe of the first wave, which ended with that, may arrive late.
	expect([...requests.on('create'), ...requests.on('status')]).toEqual([]);
	expect(codes(await sleepToEnd(stage, next))).toEqual(boats(4).map(() => 'completed'));
	expect(created()).toBe(4);
});

it('a batch ends with an error that names every generation after the user has stopped its waves', async () => {
	const first = await execute(boats(4), asleep());
	kill(wavesOf(stage, first), 'This execution was cancelled manually');
	const { status, error } = await stage.engine.resume(first);
	expect([status, error?.message]).toEqual([
		'error',
		expect.stringContaining('a helper execution was stopped'),
	]);
	for (const { generation_id: id } of rows()) {
		expect(error).toHaveProperty('description', expect.stringContaining(String(id)));
	}
});
