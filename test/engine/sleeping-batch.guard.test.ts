import type { Run } from '../../tools/engine';
import { helperOf, kill, sleepToEnd, wavesOf } from './asleep';
import { asleep, continues, items, openKeyedStage } from './keyed';

/** Suspended batches whose waves n8n kills while they sleep. */

const { stage, created, execute, rows } = openKeyedStage();

const boats = (count: number) =>
	items(
		...Array.from({ length: count }, (_, index): [string, string] => [
			`k${index}`,
			`boat ${index} [seconds: 300]`,
		]),
	);
const codes = (run: Run) => run.output('Step').map(({ json }) => json.error_code ?? json.status);

/** Runs the next wave, and kills its execution when that sleeps again. */
async function killAfterWave(run: Run): Promise<Run> {
	stage.leap(600);
	await stage.engine.resume(wavesOf(stage, run));
	kill(wavesOf(stage, run));
	return await stage.engine.resume(run);
}

it('a batch continues by itself after its waves were killed, and pays nothing again', async () => {
	const first = await execute(boats(5), asleep());
	const next = await killAfterWave(first);
	expect([next.status, created()]).toEqual(['waiting', 4]);
	const end = await sleepToEnd(stage, next);
	expect(codes(end)).toEqual(boats(5).map(() => 'completed'));
	expect(stage.sandbox.books.totals).toMatchObject({ created: 5, charged: 5 });
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

it('a batch keeps its spending limit after its waves were killed', async () => {
	const limit = asleep({ maxNewGenerations: 3 });
	const next = await killAfterWave(await execute(boats(5), limit, continues));
	const end = await sleepToEnd(stage, next);
	expect(created()).toBe(3);
	expect(codes(end).filter((code) => code === 'generation_limit_reached')).toHaveLength(2);
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

it('waves that only seemed dead end in the middle of one, soon after the guard has started others', async () => {
	const first = await execute(boats(4), asleep());
	const made = created();
	stage.leap(600);
	stage.sandbox.faults.order({ on: 'status', times: 'always', action: { kind: 'hang' } });
	const ended = stage.engine.resume(wavesOf(stage, first));
	await stage.pass(3);
	const [task] = helperOf(stage, first).record.state.data.executionData?.nodeExecutionStack ?? [];
	task.node.name = 'Start 2';
	const { status, contextData } = await ended;
	expect([status, contextData.flow]).toMatchObject(['success', { batch: { stopped: true } }]);
	expect(created()).toBe(made);
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

it('the waves may be killed again and again, as long as one ends in between', async () => {
	let run = await execute(boats(20), asleep());
	for (let deaths = 0; run.status === 'waiting' && deaths < 7; deaths++) {
		run = await killAfterWave(run);
	}
	const end = await sleepToEnd(stage, run);
	expect(codes(end)).toEqual(boats(20).map(() => 'completed'));
	expect(created()).toBe(20);
});

it('gives up if all waves die, and names every generation', async () => {
	let run = await execute(boats(4), asleep(), continues);
	for (let deaths = 0; run.status === 'waiting'; deaths++) {
		expect(deaths).toBeLessThan(5);
		kill(wavesOf(stage, run), 'No memory');
		run = await stage.engine.resume(run);
	}
	const output = run.output('Step').map(({ json }) => json);
	expect(output.slice(0, 2).map(({ id }) => id)).toEqual(rows().map((row) => row.generation_id));
	for (const { error } of output) expect(error).toContain('No memory');
});

it('a batch whose waves were killed while the results were fetched returns its results', async () => {
	const next = await killAfterWave(await execute(boats(2), asleep()));
	const run = await sleepToEnd(stage, next);
	expect([run.status, codes(run)]).toEqual(['success', ['completed', 'completed']]);
});

it('the results are stored once by the guard, however many nodes it has', async () => {
	const first = await execute(boats(20), asleep());
	const guard = helperOf(stage, first).executionId;
	await sleepToEnd(stage, first);
	const { runData = {} } = stage.engine.execution(guard)?.record.state.data.resultData ?? {};
	const stored = Object.values(runData).flatMap((runs) =>
		runs.flatMap(({ data }) => Object.values(data ?? {}).flat(2)),
	);
	// Each node has an item that says that it had nothing to do.
	expect(stored.length).toBeLessThan(Object.keys(runData).length + 3 * 20);
});
